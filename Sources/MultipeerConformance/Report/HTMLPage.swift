/// A page that needs nothing else: no other file, no network, no script. It is well-formed XML, too.
enum HTMLPage {
    static func document(_ title: String, _ body: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8"/>
        <meta name="viewport" content="width=device-width, initial-scale=1"/>
        <meta name="color-scheme" content="light dark"/>
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
        <title>\(title.escaped)</title>
        <style>
        \(style)
        </style>
        </head>
        <body>
        \(body)</body>
        </html>

        """
    }

    /// Returns a link; only the text if there is no address.
    static func link(_ text: String, _ address: String?) -> String {
        guard let address else { return text.escaped }
        return "<a href=\"\(address.escaped)\">\(text.escaped)</a>"
    }

    private static let style = """
        :root { color-scheme: light dark; --page: #fff; --text: #1c2024; --soft: #5b6570; --line: #d5dae0;
          --panel: #f5f7f9; --link: #0b57d0; --good: #d7f0dc; --goodText: #0f5323; --bad: #fbdcd9;
          --badText: #8c1410; --weak: #faecc0; --weakText: #664700; --skip: #e4e8ec; --skipText: #414a53;
          --sent: #1559b3; --received: #0d6e53; --mark: #7a3fb0; --cut: #b3261e; }
        @media (prefers-color-scheme: dark) { :root { --page: #14171a; --text: #e4e7ea; --soft: #9aa5b0;
          --line: #343b43; --panel: #1d2226; --link: #8ab4f8; --good: #173d24; --goodText: #a5e3b6;
          --bad: #55201d; --badText: #ffc9c3; --weak: #4a3a0c; --weakText: #f6dc93; --skip: #2c343b;
          --skipText: #c0c9d2; --sent: #86b7ff; --received: #6fd3ae; --mark: #cfa5f5; --cut: #ff9b92; } }
        * { box-sizing: border-box; }
        body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; padding: 1em 16px 4em; max-width: 60em;
          background: var(--page); color: var(--text); overflow-wrap: anywhere; }
        h1 { font-size: 1.5em; margin: .3em 0; } h2 { font-size: 1.15em; margin: 1.8em 0 .2em; }
        a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
        code, pre, .id { font-family: ui-monospace, monospace; font-size: .92em; }
        .about { color: var(--soft); margin: .2em 0 .8em; }
        .chip { border-radius: 4px; padding: 1px 7px; font-size: .8em; font-weight: 600; white-space: nowrap; }
        .PASS { background: var(--good); color: var(--goodText); }
        .WEAK { background: var(--weak); color: var(--weakText); }
        .SKIP { background: var(--skip); color: var(--skipText); }
        .FAIL, .FAULT { background: var(--bad); color: var(--badText); }
        table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: 2px 8px 2px 0; }
        .sections .bar { width: 45%; } .bar > div { display: flex; gap: 2px; }
        .bar span { min-width: 1.8em; text-align: center; font-size: .78em; border-radius: 3px; }
        .attention { padding-left: 1.2em; } .attention li { margin: .35em 0; }
        .case { border-top: 1px solid var(--line); padding: 5px 0; } .case[open] { padding-bottom: 12px; }
        .case > summary { display: flex; flex-wrap: wrap; gap: 2px 9px; align-items: baseline; cursor: pointer; }
        .what { flex: 1 1 12em; } .ms, .clause { white-space: nowrap; font-size: .88em; }
        .ms { color: var(--soft); min-width: 5em; text-align: right; }
        dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 12px; margin: .6em 0; }
        dt { color: var(--soft); } dd { margin: 0; }
        .fold { margin: .5em 0; } .fold > summary { cursor: pointer; color: var(--soft); }
        figure { margin: .6em 0; background: var(--panel); border: 1px solid var(--line); border-radius: 6px;
          max-width: 580px; padding: 6px 4px; }
        svg { display: block; width: 100%; height: auto; font: 10px ui-monospace, monospace; }
        svg text { fill: var(--text); text-anchor: middle; } svg path, svg line { fill: none; }
        .life { stroke: var(--line); stroke-width: 1.5; } .head { fill: var(--page); stroke: var(--line); }
        svg .name { font-weight: 600; font-size: 11px; } svg .time { fill: var(--soft); font-size: 8.5px; text-anchor: end; }
        .sent { stroke: var(--sent); stroke-width: 1.4; } .received { stroke: var(--received); stroke-width: 1.4; }
        svg .title { font-weight: 600; font-size: 10.5px; } svg .fields, svg .when { fill: var(--soft); font-size: 8.8px; }
        .cut { stroke: var(--cut); stroke-dasharray: 4 3; } .cross { stroke: var(--cut); stroke-width: 1.6; }
        svg .ending { fill: var(--cut); font-size: 9.5px; } svg .note { fill: var(--soft); font-size: 9px; font-style: italic; }
        svg .stage { font-weight: 600; } .rule, .pause { stroke: var(--line); stroke-dasharray: 2 3; }
        .pause { stroke: var(--soft); stroke-width: 2; } svg .mark { fill: var(--mark); font-size: 9px; text-anchor: end; }
        circle.request { fill: var(--page); stroke: var(--mark); stroke-width: 1.5; } circle.report { fill: var(--mark); }
        .decided { fill: var(--bad); } svg .verdict { fill: var(--badText); font-weight: 600; }
        svg .when { fill: var(--badText); }
        pre { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 8px;
          overflow-x: auto; font-size: 12px; overflow-wrap: normal; }
        @media (max-width: 480px) { figure { margin-inline: -12px; } }
        .matrix th, .matrix td { border: 1px solid var(--line); padding: 3px 7px; vertical-align: top; }
        .scroll { overflow-x: auto; }
        """
}
