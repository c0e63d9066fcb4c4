import { describe, expect, it } from "vitest";
import { render, renderComment, REPO_URL } from "./render-text.ts";

describe("headings", () => {
  it("get unique ids, and links in the page point to them", async () => {
    const html = await render(
      "## What is X?\n## What is `X`?\n## 日本 & co\n# !\n\n[up](#what-is-x)",
    );
    expect(html).toContain('<h2 id="user-content-what-is-x">What is X?</h2>');
    expect(html).toContain('<h2 id="user-content-what-is-x-1">What is <code>X</code>?</h2>');
    expect(html).toContain('<h2 id="user-content-日本--co">日本 &amp; co</h2>');
    expect(html).toContain('<h1 id="user-content-heading">!</h1>');
    expect(html).toContain('<a href="#user-content-what-is-x" rel="nofollow">up</a>');
  });
});

describe("a heading with a footnote", () => {
  it("gets an id without the footnote, and counts one reference", async () => {
    const html = await render("# x[^1]\n\n[^1]: y");
    expect(html).toMatch(/^<h1 id="user-content-x">x<sup id="fnref:user-content-1">/);
    expect(html.match(/↩︎/g)).toHaveLength(1);
  });
});

describe("line breaks", () => {
  it("are kept in comments, and joined in documents", async () => {
    expect(await renderComment("a\nb")).toBe("<p>a<br/>b</p>\n");
    expect(await render("a\nb")).toBe("<p>a\nb</p>\n");
  });
});

describe("tables", () => {
  it("align their cells by style", async () => {
    const html = await render("| a | b |\n|:-:|--|\n| 1 | 2 |");
    expect(html).toContain(
      '<table>\n<thead>\n<tr>\n<th style="text-align:center">a</th>\n<th>b</th>',
    );
    expect(html).toContain('<td style="text-align:center">1</td>');
  });
});

describe("GitHub's additions", () => {
  it.each([
    ["~~a~~", "<del>a</del>"],
    ["see https://x.example/a_b.", '<a href="https://x.example/a_b" rel="nofollow">https://x.'],
    ["a@b.example", '<a href="mailto:a@b.example" rel="nofollow">a@b.example</a>'],
    [":gem: :nope:", '<span class="emoji" aria-label="gem stone">💎</span> :nope:'],
    ["`:gem:`", "<code>:gem:</code>"],
    ["`#0a0`", '#0a0<span class="color-preview" style="background-color: #0a0"></span></code>'],
    ["`#0a0 x`", "<code>#0a0 x</code>"],
  ])("%j", async (source, html) => {
    expect(await render(source)).toContain(html);
  });
});

function readPositions(html: string): number[] {
  return [...html.matchAll(/data-source-position="(\d+)"/g)].map(([, digits]) => Number(digits));
}

describe("task lists", () => {
  it("report the byte position of each checkbox in the source", async () => {
    const source = [
      "---\ntitle: é\n---\n",
      "Before [ ] é\n\n- [ ] one\n- [x] 日本\n  - [ ] below\n",
      "\n```\n- [ ] in code\n```\n",
      "\n> 1. [X] quoted\n>\n> 2. [ ] loose\n\n+ [ ] with\ta tab\r\n+ [x] after `[ ]`\r\n",
    ].join("");
    const html = await render(source);

    const bytes = new TextEncoder().encode(source);
    const boxes = readPositions(html).map((at) =>
      new TextDecoder().decode(bytes.slice(at, at + 3)),
    );
    expect(boxes).toEqual(["[ ]", "[x]", "[ ]", "[X]", "[ ]", "[ ]", "[x]"]);
    expect(new Set(readPositions(html)).size).toBe(7);
  });

  it("have the markup that the page's script expects", async () => {
    expect(await render("- [x] a")).toBe(
      '<ul>\n<li class="task-list-item"><input type="checkbox" disabled="" data-source-position="2" checked=""/>a</li>\n</ul>\n',
    );
  });
});

describe("code", () => {
  it("is highlighted if its fence names a known language", async () => {
    const html = await render("```go\nfunc f() {}\n```");
    expect(html).toMatch(
      /^<div class="code-block-container code-overflow-scroll"><pre class="code-block"><code class="chroma language-go display"><span class="hljs-/,
    );
    expect(html).toContain('<span class="hljs-keyword">func</span>');
  });

  it.each([
    ["```\na < b\n```", '<code class="chroma language-text display">a &lt; b\n</code></pre></div>'],
    ["```nosuch\nx\n```", '<code class="chroma language-nosuch display">x\n'],
    ["    x\n", '<code class="chroma language-text display">x\n'],
    [
      "```mermaid\ngraph\n```",
      '<pre class="code-block is-loading"><code class="chroma language-mermaid display">graph\n',
    ],
  ])("is plain otherwise: %j", async (source, html) => {
    expect(await render(source)).toContain(html);
  });
});

const MATH_BLOCK =
  '<pre class="code-block is-loading"><code class="language-math display">x</code></pre>';

describe("math", () => {
  it.each([
    ["a $x_1*y*z$ b", '<p>a <code class="language-math">x_1*y*z</code> b</p>'],
    ["$`a<b`$", '<code class="language-math">a&lt;b</code>'],
    ["a $$x$$ b", '<code class="language-math">x</code>'],
    ["$$\nx\n$$", MATH_BLOCK],
    ["```math\nx\n```", MATH_BLOCK],
  ])("is rendered for the page's script: %j", async (source, html) => {
    expect(await render(source)).toContain(html);
  });

  it.each(["$5 and $6", "US$5 and US$6", "a $ b $5", "$x$y"])(
    "ignores dollars of prices and words: %j",
    async (source) => {
      expect(await render(source)).toBe(`<p>${source}</p>\n`);
    },
  );
});

describe("alerts", () => {
  it("have a title and keep their content", async () => {
    for (const html of [
      await render("> [!NOTE]\n> *a*"),
      await renderComment("> [!note]\n> *a*"),
    ]) {
      expect(html).toMatch(
        /^<blockquote class="attention-header attention-note"><p><svg .*<\/svg><strong class="attention-note">Note<\/strong><\/p>\n<p><em>a<\/em><\/p>\n<\/blockquote>/,
      );
    }
    expect(await render("> [!NOPE]\n> a")).toContain("<blockquote>\n<p>[!NOPE]");
    expect(await render("> [!TIP] a")).toContain("<blockquote>\n<p>[!TIP] a");
  });
});

describe("footnotes", () => {
  it("are numbered by first use and listed at the end", async () => {
    const html = await render(
      "a[^x] b[^1] c[^x] d[^y]\n\n[^1]: one\n[^x]: ex\n    more\n\n    last",
    );
    expect(html).toContain(
      'a<sup id="fnref:user-content-x"><a href="#fn:user-content-x" rel="nofollow">1 </a></sup>',
    );
    expect(html).toContain('c<sup id="fnref1:user-content-x">');
    expect(html).toContain("d[^y]");
    expect(html).toMatch(/<div>\n<hr\/>\n<ol>\n<li id="fn:user-content-x">\n<p>ex\nmore<\/p>/);
    expect(html).toContain(
      '<p>one <a href="#fnref:user-content-1" rel="nofollow">↩︎</a></p>\n</li>\n</ol>\n</div>',
    );
  });

  it("of comments have different ids for different suffixes", async () => {
    const options = { footnoteSuffix: "2001" };
    expect(await renderComment("a[^1]\n\n[^1]: b")).toContain('id="fn:user-content-1-preview"');
    expect(await renderComment("a[^1]\n\n[^1]: b", options)).toContain(
      "#fnref:user-content-1-2001",
    );
  });
});

describe("front matter", () => {
  it("is a collapsed table in documents, with values as written", async () => {
    const html = await render("---\ndate: 2026-01-02\ntags: [a, <b>]\n---\n# x");
    expect(html).toMatch(/^<details class="frontmatter-content"><summary>.*<\/summary><table>/);
    expect(html).toContain("<td>2026-01-02</td>");
    expect(html).toContain("<td>&lt;b&gt;</td>");
    expect(html).toContain("x</h1>");
  });

  it("is text in comments, and if it is not a mapping", async () => {
    expect(await renderComment("---\na: b\n---\n")).not.toContain("<details");
    expect(await render("---\n- a\n---\n")).not.toContain("<details");
    expect(await render("---\na: [\n---\n")).not.toContain("<details");
  });
});

describe("links and images", () => {
  const src = `${REPO_URL}/src/branch/main`;
  const media = `${REPO_URL}/media/branch/main`;

  it.each([
    ["[a](test.md)", `<a href="${src}/test.md" rel="nofollow">a</a>`],
    ["[a](./x/../test.md?a=1&amp;b#c)", `href="${src}/test.md?a=1&amp;b#c"`],
    ["[a](/docs/x.md)", `href="${src}/docs/x.md"`],
    ["[a](/:root/explore)", 'href="https://forge.example/explore"'],
    ["[a](/:raw/x.bin)", `href="${media}/x.bin"`],
    ["[a](//cdn.example/x)", 'href="//cdn.example/x"'],
    ["[a](https://x.example/)", 'href="https://x.example/"'],
    [
      "![Image](image.png)",
      `<a href="${src}/image.png" target="_blank" rel="nofollow noopener"><img src="${media}/image.png" alt="Image"/></a>`,
    ],
    [
      "[![a](b.png)](c)",
      `<a href="${src}/c" rel="nofollow"><img src="${media}/b.png" alt="a"/></a>`,
    ],
    ['<a href="c">![a](b.png)</a>', `rel="nofollow"><img src="${media}/b.png" alt="a"/></a>`],
    ['<img src="b.png">', `<img src="${media}/b.png"/>`],
  ])("are resolved against the branch: %j", async (source, html) => {
    expect(await render(source)).toContain(html);
  });

  it("are resolved against the folder of the document", async () => {
    const links = { linkBase: src, rawBase: media, folder: "docs/en" };
    expect(await render("[a](b.md) [c](../d.md) [e](/f.md)", { links })).toBe(
      `<p><a href="${src}/docs/en/b.md" rel="nofollow">a</a> ` +
        `<a href="${src}/docs/d.md" rel="nofollow">c</a> ` +
        `<a href="${src}/f.md" rel="nofollow">e</a></p>\n`,
    );
  });

  it("are resolved to pages and files in wikis", async () => {
    const wiki = `${REPO_URL}/wiki`;
    const html = await render(
      "[[Home Page]] [[Name|Other Page]] [[x|https://x.example/]] [[images/x.png]] [a](B) ![c](d.png)",
      { mode: "wiki" },
    );
    expect(html).toContain(`<a href="${wiki}/Home-Page" rel="nofollow">Home Page</a>`);
    expect(html).toContain(`<a href="${wiki}/Other-Page" rel="nofollow">Name</a>`);
    expect(html).toContain('<a href="https://x.example/" rel="nofollow">x</a>');
    expect(html).toContain(`<img src="${wiki}/raw/images/x.png"`);
    expect(html).toContain(`<a href="${wiki}/B" rel="nofollow">a</a>`);
    expect(html).toContain(`<img src="${wiki}/raw/d.png" alt="c"/>`);
  });
});

const formula = (text: string): string => `<code class="language-math">${text}</code>`;
const SHA = "0123456789abcdef0123456789abcdef01234567";
const short = (path: string, text: string): string =>
  `<p><a href="${REPO_URL}${path}" class="commit" rel="nofollow"><code>${text}</code></a></p>`;

// Where Markdown leaves a choice, it is Gitea's.
describe("a form is rendered as by Gitea", () => {
  it.each([
    // Only dollars make formulas: brackets after a backslash are brackets.
    ["\\(a\\) \\[x]", "<p>(a) [x]</p>"],
    ["call sum\\(a, b\\) first", "<p>call sum(a, b) first</p>"],
    ["\\[\na\n\\]", "<p>[\na\n]</p>"],
    ["$ a $", `<p>${formula("a")}</p>`],
    ["$a$ $b$ $c$.", `<p>${formula("a")} ${formula("b")} ${formula("c")}.</p>`],
    ["$a$$b$", `<p>${formula("a")}${formula("b")}</p>`],
    ["$a$ ($b$) [$c$] {$d$}", `<p>${formula("a")} (${formula("b")}) [$c$] {$d$}</p>`],
    [".$a$", "<p>.$a$</p>"],
    ["a$x$", "<p>a$x$</p>"],
    ["$x$a", "<p>$x$a</p>"],
    ["$a a$b b$", "<p>$a a$b b$</p>"],
    ["a$b $a a$b b$", "<p>a$b $a a$b b$</p>"],
    ["$$a$$ test", `<p>${formula("a")} test</p>`],
    ["foo $x=\\$$ bar", `<p>foo ${formula("x=\\$")} bar</p>`],
    ["$\\text{$b$}$", `<p>${formula("\\text{$b$}")}</p>`],
    ["a$`b`$c", `<p>a${formula("b")}c</p>`],
    ["a$``b``$c x$```y```$z", `<p>a${formula("b")}c x${formula("y")}z</p>`],
    ["[$a$](https://a.example)", `rel="nofollow">${formula("a")}</a></p>`],
    // Elements that mean or show something stay.
    ["<u>x</u>", "<p><u>x</u></p>"],
    ["<article>x</article>", "<article>x</article>"],
    ["<section>x</section>", "<section>x</section>"],
    ["<aside>x</aside>", "<aside>x</aside>"],
    ['<acronym title="a">x</acronym>', '<p><acronym title="a">x</acronym></p>'],
    ["<hgroup>x</hgroup>", "<p><hgroup>x</hgroup></p>"],
    ["<center>x</center>", "<center>x</center>"],
    ['<progress max="2" value="1">x</progress>', '<progress max="2" value="1">x</progress>'],
    ['<meter low="1">x</meter>', '<meter low="1">x</meter>'],
    ["<font color=red>x</font>", "<p>x</p>"],
    ["<picture><source srcset=x><img src=y></picture>", '/y"/></p>'],
    // Parts of a table outside of one go, and what closes more than was opened.
    ["<td>x</td>", "x"],
    ["<tr><td>x", "x"],
    ["<tbody><tr><th>x</th></tr></tbody>", "x"],
    ["<caption>x</caption>", "x"],
    ["a </td></tr></table> b", "<p>a  b</p>"],
    ["<div><tr>x</tr></div>", "<div>x</div>"],
    ["<table><tr><td><tr>x</table>", "<table><tr><td></td></tr><tr>x</tr></table>"],
    ["<table><div><td>x</table>", "<table><div>x</div></table>"],
    ["<table><tr><td>a</table>", "<table><tr><td>a</td></tr></table>"],
    // A browser ends a table at the next one, unless that is in a cell.
    ["<table><table><tr><td>a</table></table>", "<table><tr><td>a</td></tr></table>"],
    ["<table><b><table>a</table></b></table>", "<table><b>a</b></table>"],
    ["<table><tr><table>a</table></tr></table>", "<table><tr>a</tr></table>"],
    [
      "<table><tr><td><table><tr><td>a</table></table>",
      "<td><table><tr><td>a</td></tr></table></td>",
    ],
    ["<table>\n<tr><td>\n\n**x**\n\n</td></tr>\n</table>", "<td><p><strong>x</strong></p>\n</td>"],
    ["</div></div>x", "x"],
    // What is not shown as an element keeps its text, and what follows one that stays open.
    ["a <math><mi>x</mi></math> b", "<p>a x b</p>"],
    ["a <template>x</template> b", "<p>a x b</p>"],
    ["a <textarea>x</textarea> b", "<p>a x b</p>"],
    ["a <select><option>x</option></select> b", "<p>a x b</p>"],
    ["a <xmp>x</xmp> b", "<p>a x b</p>"],
    ["a <plaintext>x", "<p>a x</p>"],
    ["use <option> *here*", "<p>use  <em>here</em></p>"],
    ["<option>\n\n# x", '<h1 id="user-content-x">x</h1>'],
    // Addresses of a commit and its files are shortened, those of branches are not.
    [
      `${REPO_URL}/src/commit/${SHA}/a/b.ts`,
      short(`/src/commit/${SHA}/a/b.ts`, "0123456789/a/b.ts"),
    ],
    [
      `${REPO_URL}/src/commit/${SHA}/a.ts#L1-L2`,
      short(`/src/commit/${SHA}/a.ts#L1-L2`, "0123456789/a.ts (L1-L2)"),
    ],
    [
      `${REPO_URL}/src/commit/${SHA}/a.md?display=source#L3`,
      short(`/src/commit/${SHA}/a.md?display=source#L3`, "0123456789/a.md (L3)"),
    ],
    [`${REPO_URL}/blame/commit/${SHA}/a.ts`, short(`/blame/commit/${SHA}/a.ts`, "0123456789/a.ts")],
    [`${REPO_URL}/raw/commit/${SHA}/a.ts`, short(`/raw/commit/${SHA}/a.ts`, "0123456789/a.ts")],
    [`${REPO_URL}/src/commit/${SHA}`, short(`/src/commit/${SHA}`, "0123456789")],
    [`${REPO_URL}/commit/${SHA}.patch`, short(`/commit/${SHA}.patch`, "0123456789.patch")],
    [`${REPO_URL}/commit/${SHA}#diff-2`, short(`/commit/${SHA}#diff-2`, "0123456789 (diff-2)")],
    [`(${REPO_URL}/src/commit/${SHA}/a.ts).`, "<code>0123456789/a.ts</code></a>).</p>"],
    [`${REPO_URL}/src/branch/main/a.ts#L1`, `>${REPO_URL}/src/branch/main/a.ts#L1</a>`],
    [`[t](${REPO_URL}/src/commit/${SHA}/a.ts)`, 'rel="nofollow">t</a>'],
    [`\`${REPO_URL}/src/commit/${SHA}/a.ts\``, `<code>${REPO_URL}/src/commit/${SHA}/a.ts</code>`],
    ["## More tests {#custom-id}", '<h2 id="user-content-custom-id">More tests</h2>'],
    ["- [ ] <!-- c --> x", 'data-source-position="2"/> x</li>'],
    ["~~a~~ ~b~ ==c==", "<p><del>a</del> <del>b</del> ==c==</p>"],
    ["a\\\nb  \nc", "<p>a<br/>b<br/>c</p>"],
  ])("%j", async (source, html) => {
    expect(await render(source)).toContain(html);
  });
});
