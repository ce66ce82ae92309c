//! Motorcycles, scooter and trailers, each drawn by hand from back to front.
//!
//! Grey parts are engine, fork and exhaust; `currentColor` is painted; `url(#s)` lights the paint from above.

/// A drawing with a cast wheel of radius 66 (`#w`) and a wire wheel of the same size (`#x`) to `<use>`.
macro_rules! cycle {
    ($($part:literal),+ $(,)?) => {
        concat!(
            r##"<defs><g id="w"><circle r="57" fill="none" stroke="#17181b" stroke-width="18"/><circle r="46" fill="none" stroke="#8f969e" stroke-width="5"/><path d="M0 0V-44M0 0 42-14M0 0 26 36M0 0-26 36M0 0-42-14" stroke="#5b6169" stroke-width="6"/><circle r="22" fill="none" stroke="#c5cad0" stroke-width="5"/><circle r="9" fill="#3a3f46"/></g><g id="x"><circle r="57" fill="none" stroke="#17181b" stroke-width="18"/><circle r="47" fill="none" stroke="#c5cad0" stroke-width="4"/><path d="M0-46V46M-46 0H46M-33-33 33 33M33-33-33 33M-18-42 18 42M18-42-18 42M-42-18 42 18M42-18-42 18" stroke="#aeb4bb" stroke-width="1.5"/><circle r="20" fill="none" stroke="#c5cad0" stroke-width="5"/><circle r="9" fill="#3a3f46"/></g></defs>"##,
            $($part),+
        )
    };
}

pub(super) const STANDARD: &str = cycle!(
    // wheels, swing arm, fork
    r##"<use href="#w" x="166" y="251"/><use href="#w" x="472" y="251"/><path d="M472 251 352 244" stroke="#3b4047" stroke-width="13" stroke-linecap="round"/><path d="M166 251 232 130" stroke="#aab0b7" stroke-width="11" stroke-linecap="round"/>"##,
    // frame, shock, engine
    r##"<path d="M240 150 280 250H372L404 182 330 176Z" fill="#24272c"/><path d="M420 190 440 246" stroke="#d9b13b" stroke-width="8"/><path d="M266 192 300 178 352 190 368 226 360 264 296 270 268 244Z" fill="#5d646c"/><path d="M272 200H346M272 210H350M272 220H354" stroke="#8b939b" stroke-width="4"/><circle cx="334" cy="242" r="21" fill="#7b828a" stroke="#444a52" stroke-width="3"/>"##,
    // exhaust
    r##"<path d="M272 216C250 240 262 276 300 280H380" stroke="#8d949c" stroke-width="11" fill="none" stroke-linecap="round"/><path d="M376 280 396 284 512 262 508 246 396 264Z" fill="#a7adb4" stroke="#555b63"/>"##,
    // tank, seat, tail
    r##"<g id="k"><path d="M242 166C252 134 306 122 346 136C372 146 380 166 374 182C338 190 276 190 242 166Z"/><path d="M420 176C450 172 482 156 512 142C510 162 490 180 462 188Z"/><path d="M102 226A72 72 0 0 1 196 188L204 200A60 60 0 0 0 114 230Z"/></g><use href="#k" fill="currentColor"/><use href="#k" fill="url(#s)" stroke="#000" stroke-opacity=".4"/><path d="M362 156C396 164 440 158 484 142C496 144 502 150 494 158C456 180 404 188 372 180Z" fill="#1b1c1f"/>"##,
    // head lamp, bars, tail lamp
    r##"<path d="M228 130C238 108 256 102 282 104" stroke="#1b1c1f" stroke-width="8" fill="none" stroke-linecap="round"/><path d="M246 104 252 88H266" stroke="#1b1c1f" stroke-width="4" fill="none"/><circle cx="214" cy="146" r="21" fill="#25282d"/><ellipse cx="203" cy="148" rx="10" ry="18" fill="#fbf6dc"/><path d="M506 146 518 140 516 156 504 162Z" fill="#b81d2b"/>"##,
);

pub(super) const CRUISER: &str = cycle!(
    r##"<use href="#x" x="132" y="251"/><use href="#x" x="482" y="251"/><path d="M482 251 372 262" stroke="#3b4047" stroke-width="12" stroke-linecap="round"/><path d="M132 251 238 120" stroke="#c5cad0" stroke-width="12" stroke-linecap="round"/>"##,
    // frame and two leaning cylinders
    r##"<path d="M246 146 270 272H398L436 214" stroke="#1b1c1f" stroke-width="11" fill="none" stroke-linejoin="round"/><path d="M284 232 262 182 300 168 326 228Z" fill="#6a7179"/><path d="M338 228 356 172 396 182 378 236Z" fill="#6a7179"/><path d="M266 192 304 178M270 203 309 189M275 214 314 200M354 184 392 194M350 196 388 206M346 208 384 218" stroke="#b9bfc6" stroke-width="4"/><path d="M274 230H388L400 268 384 280H286L266 262Z" fill="#4b5159"/><circle cx="332" cy="256" r="22" fill="#a7adb4" stroke="#555b63" stroke-width="3"/><circle cx="328" cy="200" r="17" fill="#c5cad0" stroke="#555b63" stroke-width="3"/>"##,
    r##"<path d="M268 196C244 232 262 284 312 286H546" stroke="#b9bfc6" stroke-width="12" fill="none" stroke-linecap="round"/><path d="M388 296H556" stroke="#8d949c" stroke-width="11" stroke-linecap="round"/>"##,
    // tank, fenders
    r##"<g id="k"><path d="M240 150C256 126 304 124 352 150C372 162 382 176 380 186C336 196 262 190 240 150Z"/><path d="M66 226A72 72 0 0 1 184 196L176 208A60 60 0 0 0 80 232Z"/><path d="M406 214C418 176 462 164 510 178C546 190 562 220 562 254L548 250C546 222 532 206 508 200 478 192 444 196 428 222Z"/></g><use href="#k" fill="currentColor"/><use href="#k" fill="url(#s)" stroke="#000" stroke-opacity=".4"/>"##,
    r##"<path d="M366 176C384 198 408 202 428 188C452 172 478 166 506 168C504 178 490 184 470 188 440 206 396 214 372 194Z" fill="#1b1c1f"/><path d="M236 122C246 96 268 86 304 100" stroke="#c5cad0" stroke-width="7" fill="none" stroke-linecap="round"/><path d="M288 94 312 104" stroke="#1b1c1f" stroke-width="10" stroke-linecap="round"/><circle cx="212" cy="142" r="22" fill="#c5cad0"/><ellipse cx="200" cy="144" rx="10" ry="19" fill="#fbf6dc"/><path d="M550 206 564 214 562 228 552 224Z" fill="#b81d2b"/>"##,
);

pub(super) const TOURING: &str = cycle!(
    r##"<use href="#w" x="136" y="251"/><use href="#w" x="478" y="251"/><path d="M136 251 226 128" stroke="#c5cad0" stroke-width="12" stroke-linecap="round"/>"##,
    r##"<path d="M246 146 268 274H400L430 214" stroke="#1b1c1f" stroke-width="11" fill="none" stroke-linejoin="round"/><path d="M264 184H384L398 262 384 280H286L262 258Z" fill="#565d65"/><path d="M270 196H380M272 208H382M274 220H384" stroke="#8b939b" stroke-width="5"/><circle cx="330" cy="252" r="23" fill="#a7adb4" stroke="#555b63" stroke-width="3"/><path d="M268 210C248 240 262 290 312 290H548" stroke="#b9bfc6" stroke-width="13" fill="none" stroke-linecap="round"/>"##,
    // screen first, so that the fairing covers its foot
    r##"<path d="M202 118C206 84 224 58 246 48C252 76 254 96 250 122Z" fill="#a9c4d6" opacity=".65" stroke="#5b6b78"/>"##,
    r##"<g id="k"><path d="M178 150C184 116 220 104 256 116C262 132 258 152 246 172C222 176 192 170 178 150Z"/><path d="M240 156C258 132 306 128 356 152C376 164 384 178 382 188C338 198 262 192 240 156Z"/><path d="M64 232A74 74 0 0 1 192 202L182 212A60 60 0 0 0 78 238Z"/><path d="M424 200H536C560 202 568 216 566 240L560 262H440C424 250 418 226 424 200Z"/><path d="M476 110H560C572 112 576 122 574 138L570 158H470C466 140 466 122 476 110Z"/><path d="M236 226 262 218 274 268 258 284 240 262Z"/></g><use href="#k" fill="currentColor"/><use href="#k" fill="url(#s)" stroke="#000" stroke-opacity=".4"/>"##,
    r##"<path d="M368 176C386 200 412 204 432 190C456 176 500 170 540 170L536 188C490 190 440 212 400 214 384 210 374 198 372 190Z" fill="#1b1c1f"/><path d="M462 166C456 146 458 128 468 120" stroke="#1b1c1f" stroke-width="14" fill="none" stroke-linecap="round"/><path d="M420 224H562M470 134H574" stroke="#000" stroke-opacity=".35" stroke-width="3"/><path d="M252 122C266 112 284 112 304 120" stroke="#1b1c1f" stroke-width="8" fill="none" stroke-linecap="round"/><path d="M180 146C180 132 188 122 202 118C206 134 202 150 194 160Z" fill="#fbf6dc" stroke="#555"/><path d="M560 212 568 222 566 238 556 234ZM572 122 576 142H568Z" fill="#b81d2b"/>"##,
);

pub(super) const SPORT: &str = cycle!(
    r##"<use href="#w" x="170" y="251"/><use href="#w" x="468" y="251"/><path d="M468 251 352 236" stroke="#3b4047" stroke-width="14" stroke-linecap="round"/><path d="M170 251 228 142" stroke="#d9b13b" stroke-width="10" stroke-linecap="round"/>"##,
    r##"<path d="M252 160 268 262H376L402 190Z" fill="#2a2d32"/><path d="M300 226 372 208 384 246 352 272H296Z" fill="#5d646c"/><circle cx="352" cy="244" r="20" fill="#7b828a" stroke="#444a52" stroke-width="3"/><path d="M340 276H402L496 238 490 222 398 256Z" fill="#a7adb4" stroke="#555b63"/>"##,
    r##"<path d="M204 128C222 108 244 96 262 98C264 114 258 128 248 138Z" fill="#33424f" opacity=".8"/>"##,
    r##"<g id="k"><path d="M176 156C194 138 218 126 248 132L290 148 306 190 272 204 288 240 372 262 340 288H264C236 268 236 226 226 196L190 180Z"/><path d="M266 140C294 118 340 122 366 146C376 156 380 168 376 180C340 186 300 184 284 172Z"/><path d="M404 176C440 168 482 140 528 118C522 142 500 162 476 174L412 192Z"/><path d="M106 222A72 72 0 0 1 198 188L206 202A58 58 0 0 0 120 230Z"/></g><use href="#k" fill="currentColor"/><use href="#k" fill="url(#s)" stroke="#000" stroke-opacity=".4"/>"##,
    r##"<path d="M368 164C394 166 420 158 450 142C458 150 452 160 440 166C420 178 396 186 374 180Z" fill="#1b1c1f"/><path d="M244 138 280 146" stroke="#1b1c1f" stroke-width="9" stroke-linecap="round"/><path d="M182 158C194 148 206 144 220 144C214 156 202 164 188 166Z" fill="#fbf6dc" stroke="#555"/><path d="M240 196 262 190 272 228 256 222Z" fill="#000" opacity=".45"/><path d="M250 258 340 274" stroke="#fff" stroke-opacity=".6" stroke-width="4"/><path d="M514 126 530 118 522 136 508 142Z" fill="#b81d2b"/>"##,
);

pub(super) const ADVENTURE: &str = cycle!(
    r##"<use href="#x" x="150" y="251"/><use href="#x" x="476" y="251"/><g fill="none" stroke="#17181b" stroke-width="5" stroke-dasharray="8 6"><circle cx="150" cy="251" r="66"/><circle cx="476" cy="251" r="66"/></g><path d="M476 251 352 238" stroke="#3b4047" stroke-width="13" stroke-linecap="round"/><path d="M150 251 224 108" stroke="#d9b13b" stroke-width="11" stroke-linecap="round"/>"##,
    r##"<path d="M240 150 276 254H374L404 176Z" fill="#24272c"/><path d="M268 190 346 180 370 220 360 258 294 264 270 240Z" fill="#5d646c"/><path d="M274 202H350M276 213H354" stroke="#8b939b" stroke-width="4"/><circle cx="336" cy="236" r="20" fill="#7b828a" stroke="#444a52" stroke-width="3"/><path d="M262 262 288 280H372L382 262Z" fill="#b9bfc6"/><path d="M368 258 396 236 510 206 506 190 392 218Z" fill="#a7adb4" stroke="#555b63"/>"##,
    r##"<path d="M206 102C210 70 228 46 250 38C256 62 256 86 248 110Z" fill="#a9c4d6" opacity=".65" stroke="#5b6b78"/>"##,
    r##"<g id="k"><path d="M128 156 196 118 244 104 262 126 238 168 190 150Z"/><path d="M236 150C258 108 312 96 352 118C370 130 378 150 374 168C338 178 292 186 268 216L248 190Z"/><path d="M424 150 528 120 536 130 470 164Z"/></g><use href="#k" fill="currentColor"/><use href="#k" fill="url(#s)" stroke="#000" stroke-opacity=".4"/>"##,
    r##"<path d="M362 142C396 152 446 142 488 126L500 136C460 158 410 170 374 168Z" fill="#1b1c1f"/><path d="M436 160H552L560 232H446Z" fill="#9aa1a9" stroke="#4b5159" stroke-width="2"/><path d="M436 174H554M470 160 476 232M524 160 530 232" stroke="#4b5159" stroke-width="3"/><path d="M226 104C244 92 268 90 292 98" stroke="#1b1c1f" stroke-width="8" fill="none" stroke-linecap="round"/><path d="M262 92 280 112" stroke="#1b1c1f" stroke-width="14" stroke-linecap="round"/><path d="M192 128 220 114 222 134 200 142Z" fill="#fbf6dc" stroke="#555"/><path d="M248 182C236 204 240 236 262 250" stroke="#2e3238" stroke-width="7" fill="none"/><path d="M530 118 542 124 540 136 528 130Z" fill="#b81d2b"/>"##,
);

pub(super) const SCOOTER: &str = cycle!(
    r##"<use href="#w" transform="translate(176 271) scale(.7)"/><use href="#w" transform="translate(456 271) scale(.7)"/><path d="M176 271 236 120" stroke="#8d949c" stroke-width="12" stroke-linecap="round"/>"##,
    r##"<path d="M240 258H420V282H262Z" fill="#24272c"/><path d="M380 252 462 262 458 286H392Z" fill="#5d646c"/><path d="M420 282H520L526 264 440 262Z" fill="#8d949c" stroke="#555b63"/><path d="M204 112C206 84 216 66 232 56C240 76 242 94 238 116Z" fill="#a9c4d6" opacity=".65" stroke="#5b6b78"/>"##,
    r##"<g id="k"><path d="M192 122C206 104 236 102 252 116L262 150 258 248 278 262H366C372 230 384 204 414 190L528 172C540 200 528 236 502 250H452C432 222 398 236 396 268L384 284H262C236 276 226 250 222 222C206 204 190 168 192 122Z"/><path d="M124 268A53 53 0 0 1 214 234L222 250A40 40 0 0 0 138 272Z"/></g><use href="#k" fill="currentColor"/><use href="#k" fill="url(#s)" stroke="#000" stroke-opacity=".4"/>"##,
    r##"<path d="M362 186C366 168 384 160 404 164C440 172 480 158 520 160C530 164 532 172 526 178L414 194 372 206Z" fill="#1b1c1f"/><path d="M528 158H556V166H530" fill="#24272c"/><path d="M232 112C246 98 262 96 284 102" stroke="#1b1c1f" stroke-width="8" fill="none" stroke-linecap="round"/><path d="M258 98 250 74H238" stroke="#1b1c1f" stroke-width="4" fill="none"/><path d="M196 132C206 124 218 124 228 130C224 144 208 152 196 150Z" fill="#fbf6dc" stroke="#555"/><path d="M400 210 500 194" stroke="#fff" stroke-opacity=".55" stroke-width="4"/><path d="M524 178 534 182 532 204 520 200Z" fill="#b81d2b"/>"##,
);

/// Tyre and rim of the trailers, radius 36.
macro_rules! trailer {
    ($($part:literal),+ $(,)?) => {
        concat!(
            r##"<defs><g id="w"><circle r="36" fill="#16171a"/><circle r="21" fill="#d2d6db"/><circle r="17" fill="#9aa1a9"/><path d="M-13 0H13M0-13V13M-9-9 9 9M9-9-9 9" stroke="#5b6169" stroke-width="3"/><circle r="5" fill="#43484f"/></g></defs>"##,
            // tongue, jack, coupler
            r##"<path d="M196 268 74 262 58 258" stroke="#24272c" stroke-width="11" fill="none"/><path d="M46 250H72V268H46Z" fill="#3b4047"/><path d="M112 232V300M104 302H120M100 230H124" stroke="#5b6169" stroke-width="7"/>"##,
            $($part),+
        )
    };
}

pub(super) const TRAILER: &str = trailer!(
    r##"<use href="#w" x="348" y="281"/><use href="#w" x="432" y="281"/><path d="M176 250H596V262H176Z" fill="#7a5c3e"/><g id="k"><path d="M176 258H598V274H176Z"/><path d="M298 262C304 226 380 226 390 244C400 226 476 226 482 262H466C458 244 404 244 398 262H382C374 244 322 244 314 262Z"/><path d="M176 176H188V258H176ZM256 176H266V258H256ZM336 176H346V240H336ZM426 176H436V240H426ZM506 176H516V258H506ZM586 96H600V274H586ZM176 170H598V180H176ZM176 212H598V219H176Z"/></g><use href="#k" fill="currentColor"/><use href="#k" fill="url(#s)" stroke="#000" stroke-opacity=".35"/><path d="M593 100V250M580 122H606M580 146H606M580 170H606M580 194H606M580 218H606" stroke="#000" stroke-opacity=".3" stroke-width="2"/><path d="M582 262H598V272H582Z" fill="#b81d2b"/><path d="M178 262H190V272H178Z" fill="#e89b2c"/>"##,
);

pub(super) const ENCLOSED: &str = trailer!(
    r##"<g id="k"><path d="M150 262 140 210C140 150 160 104 200 92H584C592 92 596 98 596 106V274H156Z"/></g><use href="#k" fill="currentColor"/><use href="#k" fill="url(#s)" stroke="#000" stroke-opacity=".4"/><path d="M154 236H596V276H154Z" fill="#c5cad0" opacity=".55"/><path d="M206 92V274M286 92V274M366 92V236M446 92V236M526 92V274M146 236H596" stroke="#000" stroke-opacity=".22" stroke-width="2"/><path d="M218 112H272V262H218Z" fill="none" stroke="#000" stroke-opacity=".5" stroke-width="3"/><path d="M262 186H274" stroke="#d2d6db" stroke-width="7"/><path d="M300 276C306 228 382 226 390 246C398 226 474 228 480 276Z" fill="#16171a"/><path d="M294 268C300 220 380 220 390 238C400 220 480 220 486 268H474C470 236 404 232 398 258H382C376 232 310 236 306 268Z" fill="#d2d6db"/><use href="#w" x="348" y="281"/><use href="#w" x="432" y="281"/><path d="M584 244H596V262H584ZM586 96H594V104H586Z" fill="#b81d2b"/><path d="M152 244H164V254H152Z" fill="#e89b2c"/>"##,
);
