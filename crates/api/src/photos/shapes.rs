//! The outlines: everything faces left and stands on y = 317 of a 640 × 400 sheet.

mod cycles;

use cycles::{ADVENTURE, CRUISER, ENCLOSED, SCOOTER, SPORT, STANDARD, TOURING, TRAILER};

/// One kind of vehicle that can be drawn.
pub(super) struct Shape {
    /// As the photo name spells it.
    pub(super) name: &'static str,
    /// As the title says it, with its article.
    pub(super) title: &'static str,
    form: Form,
}

enum Form {
    Car(Car),
    Drawn(&'static str),
}

/// A car as its parts: painted outline, glass, wheels, and the lines that make the difference.
struct Car {
    outline: &'static str,
    glass: &'static str,
    /// Painted posts across the glass.
    posts: &'static str,
    /// Gaps of doors, bonnet and bed.
    gaps: &'static str,
    handles: &'static str,
    lamp: &'static str,
    tail: &'static str,
    /// Dark parts: rails, bumpers, seats.
    trim: &'static str,
    front: u16,
    rear: u16,
    radius: u16,
}

impl Shape {
    /// Whether a close view must show more of the height: riders' bars and boxes reach higher than roofs.
    pub(super) fn tall(&self) -> bool {
        matches!(self.form, Form::Drawn(_))
    }

    /// The drawing without its scene.
    pub(super) fn drawing(&self) -> String {
        match &self.form {
            Form::Drawn(text) => (*text).to_owned(),
            Form::Car(car) => car.drawing(),
        }
    }
}

impl Car {
    fn drawing(&self) -> String {
        let Car { outline, glass, posts, gaps, handles, lamp, tail, trim, front, rear, radius } = self;
        let centre = 317 - radius;
        let scale = f32::from(*radius) / 44.0;
        let arch = |x: u16| {
            let r = radius + 7;
            format!("M{} 291V{centre}A{r} {r} 0 0 1 {} {centre}V291Z", x - r, x + r)
        };
        let wheel =
            |x: u16| format!("<use href=\"#w\" transform=\"translate({x} {centre}) scale({scale:.2})\"/>");
        format!(
            "{WHEEL}<path d=\"M120 262H530V300H120Z\" fill=\"#0d0e10\"/><path d=\"{trim}\" fill=\"#23262b\"/>\
             <path d=\"{outline}\" fill=\"currentColor\"/><path d=\"{outline}\" fill=\"url(#s)\" stroke=\"#000\" \
             stroke-opacity=\".35\" stroke-width=\"1.5\"/><path d=\"{}{}\" fill=\"#0d0e10\"/>\
             <path d=\"{glass}\" fill=\"#1f2a35\"/><path d=\"{glass}\" fill=\"url(#s)\" opacity=\".45\"/>\
             <path d=\"{posts}\" stroke=\"currentColor\" stroke-width=\"8\" fill=\"none\"/>\
             <path d=\"{gaps}\" stroke=\"#000\" stroke-opacity=\".4\" stroke-width=\"2\" fill=\"none\"/>\
             <path d=\"{handles}\" stroke=\"#000\" stroke-opacity=\".55\" stroke-width=\"5\" stroke-linecap=\"round\"/>\
             <path d=\"{lamp}\" fill=\"#fbf6dc\" stroke=\"#555\"/><path d=\"{tail}\" fill=\"#b81d2b\" stroke=\"#611\"/>{}{}",
            arch(*front),
            arch(*rear),
            wheel(*front),
            wheel(*rear),
        )
    }
}

/// Tyre and five-spoke rim of radius 44 around the origin.
const WHEEL: &str = r##"<defs><g id="w"><circle r="44" fill="#16171a"/><circle r="31" fill="#b9bfc6"/><circle r="27" fill="#43484f"/><path d="M0 0V-28M0 0 27-9M0 0 16 23M0 0-16 23M0 0-27-9" stroke="#c9ced4" stroke-width="8"/><circle r="8" fill="#c9ced4"/></g></defs>"##;

/// Everything that can be drawn. A demo vehicle's body must be one of these names.
pub(super) const BODIES: [Shape; 16] = [
    Shape {
        name: "sedan",
        title: "a sedan",
        form: Form::Car(Car {
            outline: "M78 286C68 268 68 240 80 226C104 208 160 199 218 193C250 165 292 146 344 145C398 144 436 158 474 189C512 191 544 194 556 202C568 222 570 252 560 284L548 291H90Z",
            glass: "M240 193C266 169 300 155 344 154C390 153 424 165 452 189Z",
            posts: "M338 152 344 195M412 158 424 194",
            gaps: "M228 196C224 226 226 256 236 291M344 194C348 226 350 258 348 291M424 192C440 210 428 232 414 240M92 232C140 214 190 206 226 200M86 262H120",
            handles: "M318 212H332M396 212H410",
            lamp: "M80 232C92 222 108 217 124 214C120 226 104 234 80 240Z",
            tail: "M530 204H557L564 224C552 224 536 218 530 204Z",
            trim: "M80 284H560V294H80Z",
            front: 164,
            rear: 468,
            radius: 43,
        }),
    },
    Shape {
        name: "suv",
        title: "a sport utility vehicle",
        form: Form::Car(Car {
            outline: "M72 280C62 258 62 222 74 206C100 190 160 183 206 178C232 146 256 128 292 124C360 116 460 118 514 128C538 140 552 170 560 200C568 228 568 256 562 278L552 288H84Z",
            glass: "M226 178C248 151 266 139 298 136C360 130 440 131 498 139C514 148 524 162 530 178Z",
            posts: "M318 132 324 180M420 130 430 180",
            gaps: "M216 180C210 216 212 256 228 288M324 180C328 216 330 256 328 288M430 180C442 210 430 228 412 236M88 212C130 196 176 190 214 184M78 250H112",
            handles: "M300 198H314M404 198H418",
            lamp: "M74 212C90 202 108 198 126 196C122 212 102 220 72 222Z",
            tail: "M540 184H554L564 224C550 222 540 210 540 184Z",
            trim: "M74 268H564V296H74ZM286 116H500V122H286ZM300 116H308V126H300ZM480 116H488V128H480Z",
            front: 162,
            rear: 470,
            radius: 49,
        }),
    },
    Shape {
        name: "truck",
        title: "a pickup truck",
        form: Form::Car(Car {
            outline: "M62 274C54 250 56 212 66 198C100 186 160 181 198 177L236 134C244 126 256 121 272 120H352C368 120 376 130 380 146L386 184H574L576 276L564 286H76Z",
            glass: "M220 177L248 141C254 134 262 131 274 131H346C358 131 364 138 366 148L370 177Z",
            posts: "M296 128 300 180",
            gaps: "M212 180C206 214 210 252 222 286M300 178V284M380 180V284M390 190H572M84 206C130 192 170 188 208 184M68 246H106",
            handles: "M276 198H290M358 198H372",
            lamp: "M64 204C80 194 96 192 112 190V214H60Z",
            tail: "M562 192H576V232H562Z",
            trim: "M60 262H578V294H60ZM386 176H578V186H386Z",
            front: 154,
            rear: 480,
            radius: 52,
        }),
    },
    Shape {
        name: "coupe",
        title: "a coupe",
        form: Form::Car(Car {
            outline: "M72 284C62 266 64 244 76 232C110 212 176 205 232 199C268 172 312 158 356 158C412 158 462 178 520 201C544 204 558 210 562 222C568 244 566 268 558 284L546 291H86Z",
            glass: "M256 199C284 177 316 167 356 167C402 167 440 182 474 199Z",
            posts: "M398 164 416 202",
            gaps: "M244 202C236 230 240 262 250 290M416 202C426 236 420 266 408 290M88 238C140 216 196 208 240 204M80 266H114",
            handles: "M388 220H404",
            lamp: "M76 238C92 226 112 221 132 218C124 232 104 240 74 246Z",
            tail: "M522 208C542 208 556 212 563 222L565 232H530Z",
            trim: "M76 284H560V296H76ZM508 198 566 196 564 203 530 208Z",
            front: 162,
            rear: 470,
            radius: 46,
        }),
    },
    Shape {
        name: "hatchback",
        title: "a hatchback",
        form: Form::Car(Car {
            outline: "M96 286C86 266 86 238 98 224C122 206 176 199 226 192C256 160 292 142 342 140C396 138 446 142 482 152C508 170 524 194 536 214C546 236 546 264 540 284L530 291H108Z",
            glass: "M248 192C272 165 302 151 342 149C392 147 438 150 468 159C484 169 496 180 502 192Z",
            posts: "M344 146 350 195M430 146 442 194",
            gaps: "M238 196C230 226 232 258 244 290M350 194C354 226 356 258 354 290M442 192C448 212 436 228 416 238M110 230C150 212 196 205 234 200M102 262H132",
            handles: "M326 212H340M412 210H426",
            lamp: "M98 230C112 220 128 216 144 213C138 228 120 236 96 238Z",
            tail: "M516 192H526L542 226C528 224 518 212 516 192Z",
            trim: "M98 282H542V296H98ZM448 138 512 145 516 153 480 158Z",
            front: 178,
            rear: 456,
            radius: 44,
        }),
    },
    Shape {
        name: "wagon",
        title: "a station wagon",
        form: Form::Car(Car {
            outline: "M74 286C64 268 64 240 76 226C104 208 160 199 218 193C250 163 290 146 340 144C410 141 480 144 520 152C542 166 556 190 562 208C570 232 570 262 562 284L550 291H88Z",
            glass: "M240 193C266 167 300 155 340 153C404 150 468 152 506 159C520 168 530 180 536 193Z",
            posts: "M334 150 340 196M426 148 436 196",
            gaps: "M230 196C224 226 226 258 238 290M340 194C344 226 346 258 344 290M436 194C446 214 434 230 414 240M88 232C136 214 188 206 226 200M82 262H116",
            handles: "M316 212H330M408 212H422",
            lamp: "M76 232C90 222 106 217 122 214C118 226 102 236 74 240Z",
            tail: "M542 188H554L566 226C552 226 544 212 542 188Z",
            trim: "M78 280H564V296H78ZM318 136H508V141H318ZM330 136H337V148H330ZM490 136H497V152H490Z",
            front: 164,
            rear: 468,
            radius: 45,
        }),
    },
    Shape {
        name: "minivan",
        title: "a minivan",
        form: Form::Car(Car {
            outline: "M74 284C64 262 64 232 78 216C104 200 140 190 172 182C214 146 252 126 304 122C380 116 470 118 526 128C548 146 560 176 564 206C570 236 570 264 564 282L552 290H86Z",
            glass: "M200 182C236 153 264 139 308 135C380 129 460 131 512 139C528 150 536 166 540 182Z",
            posts: "M292 132 298 184M404 126 410 184",
            gaps: "M206 186C200 220 204 256 216 290M298 184V288M410 184V280M414 206H556M88 222C122 206 156 198 190 190M80 256H114",
            handles: "M276 204H290M306 204H320",
            lamp: "M80 220C98 206 120 200 140 197C132 214 108 226 76 230Z",
            tail: "M546 168H556L568 232C554 230 546 208 546 168Z",
            trim: "M78 278H566V296H78Z",
            front: 164,
            rear: 472,
            radius: 45,
        }),
    },
    Shape {
        name: "convertible",
        title: "a convertible",
        form: Form::Car(Car {
            outline: "M72 284C62 266 64 244 76 232C110 212 176 206 236 203H452C490 203 530 206 552 212C566 232 568 262 558 284L546 291H86Z",
            glass: "M244 204L288 164L300 168L280 204Z",
            posts: "M238 206 290 160",
            gaps: "M254 206C246 232 250 262 260 290M408 206C416 236 412 266 400 290M88 240C140 218 196 210 244 208M80 266H114",
            handles: "M380 222H396",
            lamp: "M76 238C92 226 112 221 132 218C124 232 104 240 74 246Z",
            tail: "M522 212C542 212 552 214 557 222L560 232H530Z",
            trim: "M76 284H560V296H76ZM318 206C316 184 322 172 336 172C350 172 352 188 354 206ZM386 206C384 186 390 176 402 176C414 176 416 190 418 206ZM424 204C434 186 486 188 496 206Z",
            front: 162,
            rear: 470,
            radius: 44,
        }),
    },
    Shape { name: "cruiser", title: "a cruiser motorcycle", form: Form::Drawn(CRUISER) },
    Shape { name: "sport", title: "a sport motorcycle", form: Form::Drawn(SPORT) },
    Shape { name: "touring", title: "a touring motorcycle", form: Form::Drawn(TOURING) },
    Shape { name: "standard", title: "a standard motorcycle", form: Form::Drawn(STANDARD) },
    Shape { name: "adventure", title: "an adventure motorcycle", form: Form::Drawn(ADVENTURE) },
    Shape { name: "scooter", title: "a scooter", form: Form::Drawn(SCOOTER) },
    Shape { name: "trailer", title: "an utility trailer", form: Form::Drawn(TRAILER) },
    Shape { name: "enclosed", title: "an enclosed trailer", form: Form::Drawn(ENCLOSED) },
];
