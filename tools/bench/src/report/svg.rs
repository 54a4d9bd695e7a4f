//! Small drawings that are read in light and in dark.

use std::fmt::{Display, Write as _};

/// Colours by class; those of series are told apart without colour vision too.
const STYLE: &str = "text { font: 12px system-ui, sans-serif; fill: #1f2328 } .head { font-weight: 600 }
.axis { stroke: #8c959f } .goal { stroke: #1f2328; stroke-dasharray: 4 3 } .met { fill: #2c7fb8 }
.missed { fill: #d95f0e } .line { fill: none; stroke-width: 2 } .s0 { stroke: #2c7fb8 } .s1 { stroke: #d95f0e }
.s2 { stroke: #7b3294 } .d0 { fill: #2c7fb8 } .d1 { fill: #d95f0e } .d2 { fill: #7b3294 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .goal { stroke: #e6edf3 } .axis { stroke: #6e7681 }
.met { fill: #6baed6 } .missed { fill: #fd8d3c } .s0 { stroke: #6baed6 } .s1 { stroke: #fd8d3c }
.s2 { stroke: #c2a5cf } .d0 { fill: #6baed6 } .d1 { fill: #fd8d3c } .d2 { fill: #c2a5cf } }";

/// Where a text stands by its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing in the making, in pixels from the upper left corner.
pub(super) struct Svg {
    text: String,
}

impl Svg {
    /// An empty drawing; `title` is what a screen reader says.
    pub(super) fn new(width: f64, height: f64, title: &str) -> Self {
        let title = escape(title);
        Self {
            text: format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
                aria-label=\"{title}\">\n<title>{title}</title>\n<style>{STYLE}</style>\n"
            ),
        }
    }

    /// A text.
    pub(super) fn label(&mut self, (x, y): (f64, f64), anchor: Anchor, class: &str, text: impl Display) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escape(&text.to_string());
        self.push(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{text}</text>"
        ));
    }

    /// A straight line.
    pub(super) fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) {
        self.push(format_args!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" class=\"{class}\"/>"
        ));
    }

    /// A rectangle.
    pub(super) fn bar(&mut self, (x, y): (f64, f64), width: f64, height: f64, class: &str) {
        self.push(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" class=\"{class}\"/>"
        ));
    }

    /// Points joined by lines.
    pub(super) fn curve(&mut self, points: &[(f64, f64)], series: usize) {
        let path: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.push(format_args!("<polyline points=\"{}\" class=\"line s{series}\"/>", path.join(" ")));
        for (x, y) in points {
            self.push(format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" class=\"d{series}\"/>"));
        }
    }

    /// The file.
    pub(super) fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // A `String` takes all that is written to it.
        let _ = writeln!(self.text, "{element}");
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_break_out() {
        let mut svg = Svg::new(10.0, 10.0, "a \"b\" & <c>");
        svg.label((1.0, 2.0), Anchor::End, "x", "</text>");
        let text = svg.finish();
        assert!(text.contains("aria-label=\"a &quot;b&quot; &amp; &lt;c&gt;\""));
        assert!(text.contains(">&lt;/text&gt;</text>"));
        assert!(text.ends_with("</svg>\n"));
    }
}
