//! Photos of the demo dealers: side views drawn as SVG, so that a demo needs no image files and no network.
//!
//! A photo is named `<body>-<colour>-<n>.svg`: a body of [`shapes::BODIES`], six lower-case hex digits, and
//! `1`, `2` or `3` for the scene. Nothing of the request but the checked colour reaches the drawing.

mod shapes;

/// The drawing for one photo name such as `suv-1f4e8c-2.svg`, at most 6 KB; `None` for any other text.
pub fn svg(path: &str) -> Option<String> {
    let (rest, number) = path.strip_suffix(".svg")?.rsplit_once('-')?;
    let (body, colour) = rest.rsplit_once('-')?;
    let scene = SCENES.iter().find(|scene| scene.number == number)?;
    let shape = shapes::BODIES.iter().find(|shape| shape.name == body)?;
    if colour.len() != 6 || !colour.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    // `color` on the root is the one place where the paint is named; the shapes say `currentColor`.
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 400\" width=\"1280\" height=\"800\" \
         role=\"img\" aria-labelledby=\"t\" color=\"#{colour}\"><title id=\"t\">Drawing of {title}, {view} \
         (photo {number} of 3)</title>{DEFS}{backdrop}<g transform=\"{camera}\"><ellipse cx=\"320\" cy=\"317\" \
         rx=\"268\" ry=\"13\" opacity=\".38\"/>{drawing}</g></svg>",
        title = shape.title,
        view = scene.view,
        number = scene.number,
        backdrop = scene.backdrop,
        camera = if shape.tall() { scene.tall } else { scene.camera },
        drawing = shape.drawing(),
    ))
}

/// Light from above on painted sheet metal, sky, and floor.
const DEFS: &str = r##"<defs><linearGradient id="s" x2="0" y2="1"><stop stop-color="#fff" stop-opacity=".42"/><stop offset=".45" stop-color="#fff" stop-opacity=".06"/><stop offset=".62" stop-opacity="0"/><stop offset="1" stop-opacity=".4"/></linearGradient></defs>"##;

struct Scene {
    number: &'static str,
    view: &'static str,
    /// Where the vehicle is put; `tall` is for those that are higher than a car.
    camera: &'static str,
    tall: &'static str,
    backdrop: &'static str,
}

const SCENES: [Scene; 3] = [
    Scene {
        number: "1",
        view: "side view in a studio",
        camera: "",
        tall: "",
        backdrop: r##"<linearGradient id="b" x2="0" y2="1"><stop stop-color="#8fa0ad"/><stop offset="1" stop-color="#d5dce1"/></linearGradient><path d="M0 0H640V400H0Z" fill="url(#b)"/><path d="M0 290C160 278 480 278 640 290V400H0Z" fill="#b3bcc3"/><path d="M0 345H640V400H0Z" fill="#fff" opacity=".18"/>"##,
    },
    Scene {
        number: "2",
        view: "other side on the lot",
        camera: "translate(608 22) scale(-.9 .9) skewY(1.5)",
        tall: "translate(608 22) scale(-.9 .9) skewY(1.5)",
        backdrop: r##"<linearGradient id="b" x2="0" y2="1"><stop stop-color="#79b3dc"/><stop offset="1" stop-color="#e4f0f5"/></linearGradient><path d="M0 0H640V400H0Z" fill="url(#b)"/><circle cx="530" cy="70" r="26" fill="#fff3c4"/><path d="M0 215C90 165 150 205 235 180S420 150 500 190 600 180 640 170V260H0Z" fill="#7d9b86"/><path d="M0 235C120 205 220 240 330 222S540 205 640 228V290H0Z" fill="#5f8068"/><path d="M0 262H640V400H0Z" fill="#7b7f83"/><path d="M60 262 0 310V316L72 262ZM200 262 130 400H150L212 262ZM340 262 350 400H370L352 262ZM480 262 570 400H592L492 262ZM620 262 640 278V270L632 262Z" fill="#e8e6da" opacity=".75"/>"##,
    },
    Scene {
        number: "3",
        view: "close view of the front in the evening",
        camera: "translate(20 -160) scale(1.55)",
        tall: "translate(10 -50) scale(1.3)",
        backdrop: r##"<linearGradient id="b" x2="0" y2="1"><stop stop-color="#3c4a72"/><stop offset=".6" stop-color="#d98d72"/><stop offset="1" stop-color="#f2c49b"/></linearGradient><path d="M0 0H640V400H0Z" fill="url(#b)"/><path d="M0 240H60V170H130V215H190V140H250V225H330V185H410V120H470V205H540V165H600V235H640V320H0Z" fill="#59506f"/><path d="M75 185H85V195H75ZM100 185H110V195H100ZM205 158H215V168H205ZM225 180H235V190H225ZM425 140H435V150H425ZM445 165H455V175H445ZM560 182H570V192H560Z" fill="#ffd98a"/><path d="M0 300H640V400H0Z" fill="#6c6570"/><path d="M0 300H640V306H0Z" fill="#8d8590"/>"##,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_body_in_every_scene_is_small_distinct_and_titled() {
        let mut seen = std::collections::HashSet::new();
        for shape in &shapes::BODIES {
            for n in 1..=3 {
                let text = svg(&format!("{}-1f4e8c-{n}.svg", shape.name)).unwrap();
                assert!(text.len() <= 6144, "{} {n}: {} bytes", shape.name, text.len());
                assert!(text.starts_with("<svg ") && text.ends_with("</svg>"));
                assert!(text.contains("<title") && text.contains(shape.title));
                assert_eq!(text.matches("#1f4e8c").count(), 1, "the paint is named once");
                assert!(!text.contains("<script") && !text.contains("href=\"http"));
                assert_eq!(text.matches("<g").count(), text.matches("</g").count(), "{}", shape.name);
                assert!(seen.insert(text), "{} {n} looks like another one", shape.name);
            }
        }
        assert!(seen.len() >= 45);
    }

    #[test]
    fn anything_but_a_whole_name_is_nothing() {
        assert!(svg("suv-1f4e8c-1.svg").is_some());
        for path in [
            "",
            ".svg",
            "suv.svg",
            "suv-1f4e8c-1",
            "suv-1f4e8c-1.SVG",
            "suv-1f4e8c-0.svg",
            "suv-1f4e8c-4.svg",
            "suv-1f4e8c-01.svg",
            "suv-1f4e8c-+1.svg",
            "suv-1F4E8C-1.svg",
            "suv-1f4e8-1.svg",
            "suv-1f4e8c0-1.svg",
            "suv-\"/><a-1.svg",
            "suv-é4e8c-1.svg",
            "SUV-1f4e8c-1.svg",
            "tank-1f4e8c-1.svg",
            "-1f4e8c-1.svg",
            " suv-1f4e8c-1.svg",
            "a/suv-1f4e8c-1.svg",
            "../suv-1f4e8c-1.svg",
            "suv-1f4e8c-1.svg.svg",
            "--.svg",
            "suv-1f4e8c-1.svg\n",
            "suv--1f4e8c-1.svg",
            "sport_touring-1f4e8c-1.svg",
        ] {
            assert_eq!(svg(path), None, "{path:?}");
        }
    }
}
