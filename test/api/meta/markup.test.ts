import { describe, expect, it } from "vitest";

import { call } from "../../support/call.ts";
import { make } from "../../support/make.ts";

const ROOT = "https://forge.example";
const ANYBODY = await make.user();

const render = (path: string, json: unknown, as: { token: string } = ANYBODY) =>
  call("POST", path, { as, json });

describe.each(["/markdown", "/markup"])("POST %s", (path) => {
  it("returns HTML only", async () => {
    const answer = await render(path, { Text: "# Hello\n\n**you**" });

    expect(answer.status).toBe(200);
    expect(answer.headers.get("Content-Type")).toMatch(/^text\/html(;|$)/);
    expect(answer.body).toMatch(/<h1[^>]*>Hello<\/h1>/);
    expect(answer.body).toContain("<strong>you</strong>");
  });

  it("renders nothing as nothing", async () => {
    for (const json of [{}, { Text: "" }, { Text: null }]) {
      const answer = await render(path, json);
      expect(answer).toMatchObject({ status: 200, body: "" });
      expect(answer.headers.get("Content-Type")).toMatch(/^text\/html/);
    }
  });

  it("matches keys in any case: clients in Go and JavaScript spell them differently", async () => {
    for (const json of [
      { Text: "one\ntwo", Mode: "comment" },
      { text: "one\ntwo", mode: "comment" },
      { TEXT: "one\ntwo", MODE: "comment" },
    ]) {
      expect((await render(path, json)).body).toMatch(/one<br\s*\/?>\s*two/);
    }
  });

  it("breaks lines in comments, and not in documents", async () => {
    for (const [Mode, isBroken] of [
      ["comment", true],
      ["gfm", false],
      ["markdown", false],
      ["", false],
    ] as const) {
      const { status, body } = await render(path, { Text: "one\ntwo", Mode });
      expect(status).toBe(200);
      expect(body.includes("<br")).toBe(isBroken);
    }
  });

  it.each([
    ["an unknown mode", { Text: "x", Mode: "latex" }, "Unknown mode: latex"],
    ["a mode in another case", { Text: "x", Mode: "GFM" }, "Unknown mode: GFM"],
    ["a text that is a number", { Text: 7 }, "[Text]: must be a string"],
    ["a mode that is a list", { Text: "x", Mode: ["gfm"] }, expect.stringMatching(/^\[Mode\]/)],
    ["a context that is an object", { Context: {} }, expect.stringMatching(/^\[Context\]/)],
    ["a flag that is a text", { Text: "x", Wiki: "yes" }, "[Wiki]: must be true or false"],
    [
      "a context that is too long",
      { Context: "x".repeat(2049) },
      "[Context]: must have at most 2048 characters",
    ],
    ["a list", [], expect.stringContaining("must be an object")],
  ])("refuses %s, in JSON", async (_, json, message) => {
    const answer = await render(path, json);

    expect(answer).toMatchObject({ status: 422, body: { message, url: `${ROOT}/api/swagger` } });
    expect(answer.headers.get("Content-Type")).toMatch(/^application\/json/);
  });

  it("resolves relative links against the context", async () => {
    const Text = "[doc](guide.md) ![image](logo.png)";
    const Context = "ada/engine";

    const gfm = (await render(path, { Text, Mode: "gfm", Context })).body;
    expect(gfm).toContain(`href="${ROOT}/ada/engine/`);
    expect(gfm).toContain("guide.md");

    const none = (await render(path, { Text, Mode: "gfm" })).body;
    expect(none).toContain(`href="${ROOT}/guide.md"`);

    const context = `/ada/engine/src/branch/main`;
    for (const each of [context, ROOT + context]) {
      const { body } = await render(path, { Text, Mode: "gfm", Context: each });
      expect(body).toContain(`href="${ROOT}/ada/engine/src/branch/main/guide.md"`);
      expect(body).toContain(`src="${ROOT}/ada/engine/media/branch/main/logo.png"`);
    }
  });

  it("resolves links of a wiki within the wiki, by flag and by mode", async () => {
    const Text = "[[Home Page]]";
    for (const json of [
      { Wiki: true, Mode: "gfm" },
      { Mode: "wiki" },
      { wiki: true, mode: "comment" },
    ]) {
      const { body } = await render(path, { Text, Context: "ada/engine", ...json });
      expect(body).toContain(`href="${ROOT}/ada/engine/wiki/Home-Page"`);
    }
  });

  // SECURITY: scripts in user content must never run.
  it("removes scripts", async () => {
    const Text = [
      "<script>alert(1)</script>",
      '<img src="x" onerror="alert(1)">',
      "[click](javascript:alert(1)) [click](&#106;avascript:alert(1))",
      '<a href="JaVaScRiPt:alert(1)">x</a>',
      '<iframe src="https://evil.example"></iframe>',
      '<svg onload="alert(1)"></svg>',
      "![x](data:text/html;base64,PHNjcmlwdD4=)",
      "```\n</code></pre><script>alert(1)</script>\n```",
    ].join("\n\n");

    for (const Mode of ["markdown", "gfm", "comment", "wiki"]) {
      const { status, body } = await render(path, { Text, Mode, Context: "ada/engine" });
      expect(status).toBe(200);
      expect(body).not.toMatch(/<script|<iframe|<[^>]*\son\w+=|<[^>]*(?:javascript|data):/i);
    }
  });

  it("can't be opened as a page of this service", async () => {
    const { headers } = await render(path, { Text: "x" });

    const policy = headers.get("Content-Security-Policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toMatch(/(^|; )sandbox($|;)/);
    expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
  });

  it("refuses a text beyond its limit, and a body beyond its own limit", async () => {
    expect((await render(path, { Text: "x".repeat(524_288) })).status).toBe(200);
    expect(await render(path, { Text: "x".repeat(524_289) })).toMatchObject({
      status: 413,
      body: { message: "the text is larger than 524288 bytes" },
    });
    // Bytes count, not characters.
    expect((await render(path, { Text: "é".repeat(262_145) })).status).toBe(413);
    expect((await render(path, { Text: "x".repeat(1_048_576) })).status).toBe(413);
  });

  it("asks anonymous callers to sign in, and accepts a token with any scope", async () => {
    const token = await make.token(ANYBODY, { scopes: "read:user" });

    expect(await call("POST", path, { json: { Text: "x" } })).toMatchObject({
      status: 401,
      body: { message: "token is required" },
    });
    expect((await call("POST", path, { token, json: { Text: "x" } })).status).toBe(200);
  });

  it("accepts only JSON", async () => {
    const send = (headers: Record<string, string>) =>
      call("POST", path, { as: ANYBODY, headers, body: '{"Text":"x"}' });

    expect((await send({ "Content-Type": "application/json; charset=utf-8" })).status).toBe(200);
    expect((await send({ "Content-Type": "text/plain" })).status).toBe(422);
    expect((await send({ "Content-Type": "application/x-www-form-urlencoded" })).status).toBe(422);
  });
});

describe("mentions", () => {
  const mentioned = async (name: string, caller: { token: string }, Mode = "comment") =>
    (await render("/markup", { Text: `Hello @${name}!`, Mode, Context: "ada/engine" }, caller))
      .body;

  it("become links to existing users, in any case", async () => {
    const user = await make.user();

    expect(await mentioned(user.name, ANYBODY)).toContain(`href="${ROOT}/${user.name}"`);
    expect(await mentioned(user.name.toUpperCase(), ANYBODY)).toContain("<a ");
    expect(await mentioned("nobody-of-this-name", ANYBODY)).not.toContain("<a ");
  });

  // SECURITY: a link would reveal that the account exists.
  it("of accounts that the caller may not see remain text", async () => {
    const hidden = await make.user({ visibility: "private" });
    const org = await make.org([hidden], { visibility: "private" });
    const limited = await make.user({ visibility: "limited" });
    const publicOnly = await make.token(hidden, { scopes: "public-only,all" });

    expect(await mentioned(hidden.name, ANYBODY)).not.toContain("<a ");
    expect(await mentioned(org.name, ANYBODY)).not.toContain("<a ");
    expect(await mentioned(hidden.name, hidden)).toContain("<a ");
    expect(await mentioned(org.name, hidden)).toContain("<a ");
    expect(await mentioned(limited.name, ANYBODY)).toContain("<a ");
    expect(await mentioned(limited.name, { token: publicOnly })).not.toContain("<a ");
    expect(await mentioned(org.name, { token: publicOnly })).not.toContain("<a ");
  });

  it("of teams become links for members of the organization", async () => {
    const member = await make.user();
    const org = await make.org([member]);
    const team = await make.team(org);
    const publicOnly = await make.token(member, { scopes: "public-only,all" });
    const reference = `${org.name}/${team.name}`;
    const href = `href="${ROOT}/org/${org.name}/teams/${team.name}"`;

    expect(await mentioned(reference, member)).toContain(href);
    expect(await mentioned(reference, ANYBODY)).not.toContain(href);
    expect(await mentioned(reference, { token: publicOnly })).not.toContain(href);
  });
});

describe("POST /markup in mode file", () => {
  const renderFile = (FilePath: string | undefined, Text: string) =>
    render("/markup", { Mode: "file", FilePath, Text, Context: "ada/engine/src/branch/main" });

  it("renders according to the path", async () => {
    expect((await renderFile("docs/README.md", "# Hello")).body).toMatch(/<h1[^>]*>Hello<\/h1>/);
    expect((await renderFile("NOTES.TXT", "a < b")).body).toContain("a &lt; b");
    expect((await renderFile("LICENSE", "# not a title")).body).not.toContain("<h1");
    const table = (await renderFile("data.csv", "name,born\nAda,1815\n")).body;
    expect(table).toMatch(/<th>name<\/th>[^]*<td>1815<\/td>/);
  });

  it("resolves relative links against the file's folder", async () => {
    const { body } = await renderFile("docs/intro.md", "[next](guide.md)");

    expect(body).toContain(`href="${ROOT}/ada/engine/src/branch/main/docs/guide.md"`);
  });

  it.each([
    ["logo.bin", 'unsupported file to render: "logo.bin"'],
    ["index.html", 'unsupported file to render: "index.html"'],
    [undefined, 'unsupported file to render: ""'],
  ])("refuses %s, which has no renderer", async (path, message) => {
    expect(await renderFile(path, "x")).toMatchObject({ status: 422, body: { message } });
  });
});

describe("POST /markdown/raw", () => {
  const send = (body: BodyInit, headers: Record<string, string> = {}) =>
    call("POST", "/markdown/raw", { as: ANYBODY, headers, body });

  it.each([
    ["text/plain"],
    ["text/x-markdown; charset=utf-8"],
    ["application/json"],
    ["image/png"],
    [""],
  ])("renders the body, sent as %j", async (type) => {
    const body = new TextEncoder().encode("**Hello** {}");
    const answer = await send(body, type === "" ? {} : { "Content-Type": type });

    expect(answer.status).toBe(200);
    expect(answer.headers.get("Content-Type")).toMatch(/^text\/html/);
    expect(answer.headers.get("Content-Security-Policy")).toContain("sandbox");
    expect(answer.body).toContain("<strong>Hello</strong> {}");
  });

  it("renders nothing as nothing", async () => {
    expect(await send("")).toMatchObject({ status: 200, body: "" });
  });

  it("refuses a body beyond the limit, whatever its declared length", async () => {
    const tooMuch = "x".repeat(524_289);
    // A stream declares no length: it is refused while it is read.
    const stream = new Blob([tooMuch]).stream();

    for (const body of [tooMuch, stream]) {
      expect(await send(body)).toMatchObject({
        status: 413,
        body: { message: "the body is larger than 524288 bytes", url: `${ROOT}/api/swagger` },
      });
    }
    const announced = await send("x", { "Content-Length": "524289" });
    expect(announced.status).toBe(413);
    expect((await send("x".repeat(524_288))).status).toBe(200);
  });

  it("refuses a body that is not UTF-8", async () => {
    expect((await send(new Uint8Array([0xff, 0xfe, 0x41]))).status).toBe(422);
  });

  it("removes scripts, and asks anonymous callers to sign in", async () => {
    expect((await send("<script>alert(1)</script>")).body).not.toContain("<script");
    expect((await call("POST", "/markdown/raw", { body: "x" })).status).toBe(401);
  });
});
