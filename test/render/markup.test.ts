import { describe, expect, it } from "vitest";
import { renderMarkup } from "../../src/render/markup.ts";
import { isMarkupMode } from "../../src/render/markup-options.ts";
import { parseContext } from "../../src/render/parse-context.ts";
import { render, REPO_URL, ROOT_URL } from "./render-text.ts";

describe("mode file", () => {
  it.each(["a.md", "docs/A.MARKDOWN", "a.mdown", "a.mkd", "a.livemd"])(
    "renders Markdown: %s",
    async (filePath) => {
      expect(await render("*a*", { mode: "file", filePath })).toBe("<p><em>a</em></p>\n");
    },
  );

  it.each(["a.txt", "README", "docs/LICENSE"])(
    "renders plain text unchanged: %s",
    async (filePath) => {
      expect(await render("*a* <b>\n", { mode: "file", filePath })).toBe(
        '<pre class="plain-text">*a* &lt;b&gt;\n</pre>\n',
      );
    },
  );

  it.each([
    ["a.csv", 'x,"y, ""z"""\n1,<b>\n'],
    ["a.tsv", 'x\t"y, ""z"""\n1\t<b>\n'],
  ])("renders separated values as a table: %s", async (filePath, source) => {
    const html = await render(source, { mode: "file", filePath });
    expect(html).toContain('<table class="data-table"><thead><tr><th>x</th><th>y, "z"</th></tr>');
    expect(html).toContain("<tr><td>1</td><td>&lt;b&gt;</td></tr>");
  });

  it.each(["a.exe", 'a"b.x', "", "md"])(
    "refuses a file without a renderer: %j",
    async (filePath) => {
      await expect(render("x", { mode: "file", filePath })).rejects.toMatchObject({
        kind: "invalid",
        message: `unsupported file to render: ${JSON.stringify(filePath)}`,
      });
    },
  );
});

describe("modes", () => {
  it("are a closed list", () => {
    expect(["markdown", "gfm", "comment", "wiki", "file", "", "x"].filter(isMarkupMode)).toEqual([
      "markdown",
      "gfm",
      "comment",
      "wiki",
      "file",
    ]);
  });

  it("resolve links against the server's root without a repository", async () => {
    const html = await renderMarkup("[a](b) [c](/d)", { mode: "markdown", rootUrl: ROOT_URL });
    expect(html).toContain(`href="${ROOT_URL}/b"`);
    expect(html).toContain(`href="${ROOT_URL}/d"`);
  });
});

describe("parseContext", () => {
  const repo = { owner: "ada", name: "engine" };
  const atRepo = { repo, links: { linkBase: REPO_URL, rawBase: REPO_URL } };
  const at = (ref: string): object => ({
    repo,
    links: { linkBase: `${REPO_URL}/src/${ref}`, rawBase: `${REPO_URL}/media/${ref}` },
  });

  it.each([
    ["", {}],
    ["ada", {}],
    ["ada/engine", atRepo],
    ["/ada/engine", atRepo],
    ["/ada/engine/", atRepo],
    [REPO_URL, atRepo],
    ["https://other.example/ada/engine", {}],
    ["//other.example/ada/engine", {}],
    ["/ada/engine/src/branch/main", at("branch/main")],
    ["/ada/engine/src/tag/v1.0", at("tag/v1.0")],
    ["/ada/engine/src/commit/abc", at("commit/abc")],
    [`${REPO_URL}/src/branch/feature/x`, at("branch/feature/x")],
    ["/ada/engine/src/branch/../..", atRepo],
    ["/ada/engine/src/nosuch/main", atRepo],
  ])("parses %j", (context, expected) => {
    expect(parseContext(context, { rootUrl: ROOT_URL, mode: "gfm" })).toEqual(expected);
  });

  it("returns the folder of a file", () => {
    const options = { rootUrl: ROOT_URL, mode: "file", filePath: "path/to/x.md" } as const;
    expect(parseContext("/ada/engine/src/branch/main", options).links?.folder).toBe("path/to");
  });

  it("returns only the repository for comments and wikis", () => {
    for (const mode of ["comment", "wiki"] as const) {
      const context = "/ada/engine/src/branch/main";
      expect(parseContext(context, { rootUrl: ROOT_URL, mode })).toEqual({ repo });
    }
  });

  it("returns a base URL and no repository for plain documents", () => {
    expect(parseContext("/ada/engine", { rootUrl: ROOT_URL, mode: "markdown" })).toEqual({
      links: { linkBase: REPO_URL, rawBase: REPO_URL },
    });
  });
});
