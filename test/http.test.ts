import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { createApp } from "../src/app.ts";
import { parseConfig } from "../src/config.ts";
import { repositories } from "../src/db/schema/index.ts";
import { basic, call, visit, type Answer } from "./support/call.ts";
import { serviceWith } from "./support/service.ts";
import { db } from "./support/db.ts";
import { freshName, make } from "./support/make.ts";
import { logged } from "./support/usage.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const JSON_TYPE = { "Content-Type": "application/json" };

/** All headers of a response except those that differ in every response. */
const plainHeaders = ({ headers }: Answer) =>
  [...headers].filter(([name]) => name !== "x-request-id");

describe("a header Host that names no host", () => {
  it.each(["http://a b/", "http://[/", "http://a:99999/api/v1/version", "/v2/"])(
    "is refused: %s",
    async (url) => {
      // The platform hands on what no other code can make.
      const request = new Proxy(new Request("http://a/"), {
        get: (target, name) => (name === "url" ? url : Reflect.get(target, name, target)),
      });
      const answer = await createApp(parseConfig(env)).fetch(request, env);
      expect([answer.status, await answer.text()]).toEqual([
        400,
        "the header Host names no host\n",
      ]);
    },
  );
});

describe("a JSON body", () => {
  const path = "/user/repos";
  const withBody = async (body: BodyInit, headers: Record<string, string>, method = "POST") =>
    call(method, path, { as: await make.user(), headers, body });

  it.each([
    "application/json",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    "Application/JSON",
    "application/json ; charset=utf-8",
    "application/json;",
    "application/vnd.api2+json",
    "text/json",
    "text/json; charset=utf-8",
  ])("is accepted with Content-Type %j", async (type) => {
    const name = freshName("typed");
    const answer = await withBody(JSON.stringify({ name }), { "Content-Type": type });
    expect(answer).toMatchObject({ status: 201, body: { name } });
  });

  // SECURITY: a page of another origin can send some of these types without a CORS preflight.
  it.each([
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain",
    "text/jsonp",
    "application/jsonp",
    "application/xml",
    "json",
    "text/plain; application/json",
  ])("is refused with Content-Type %j, and nothing is stored", async (type) => {
    const name = freshName("typed");
    const answer = await withBody(JSON.stringify({ name }), { "Content-Type": type });
    expect(answer).toMatchObject({
      status: 422,
      body: { message: "[]: must have the Content-Type application/json" },
    });
    expect(await db.select().from(repositories).where(eq(repositories.name, name))).toEqual([]);
  });

  it("requires a Content-Type, unless the body is empty and the operation allows that", async () => {
    const user = await make.user();
    const repo = await make.repo(user);
    // A stream sets no Content-Type, while a string would.
    const body = new Blob(['{"name":"untyped"}']).stream();
    expect(await call("POST", path, { as: user, body })).toMatchObject({
      status: 422,
      body: { message: "[]: must have the Content-Type application/json" },
    });
    expect(await call("POST", path, { as: user })).toMatchObject({ status: 422 });
    const edit = `/repos/${repo.owner}/${repo.name}`;
    expect(await call("PATCH", edit, { as: user })).toMatchObject({ status: 200 });
  });

  it.each([
    ["nothing", "", /^\[name\]: is required$/],
    ["half an object", '{"name":', /must be JSON/],
    ["only space", "  ", /must be JSON/],
    ["two values", "{}{}", /must be JSON/],
    ["a comment", "{/**/}", /must be JSON/],
    ["single quotes", "{'name':'x'}", /must be JSON/],
    ["NaN", '{"name":NaN}', /must be JSON/],
    ["null", "null", /must be an object/],
    ["a list", "[]", /must be an object/],
    ["a list of objects", '[{"name":"x"}]', /must be an object/],
    ["a text", '"name"', /must be an object/],
    ["a number", "1", /must be an object/],
    ["a flag", "true", /must be an object/],
    ["a list for a text", '{"name":["a"]}', /^\[name\]: must be a string$/],
    ["an object for a text", '{"name":{"a":1}}', /^\[name\]: must be a string$/],
    ["a number for a text", '{"name":1}', /^\[name\]: must be a string$/],
    ["a text for a flag", '{"name":"a","private":"yes"}', /^\[private\]: must be true or false/],
    ["a number for a flag", '{"name":"a","private":1}', /^\[private\]: must be true or false/],
    ["null for what must be there", '{"name":null}', /^\[name\]: is required$/],
    ["nothing in what must be there", '{"name":""}', /^\[name\]: must not be empty$/],
    ["a prototype for a name", '{"__proto__":{"name":"x"}}', /^\[name\]: is required$/],
  ])("of %s is refused with 422", async (_, body, message) => {
    const answer = await withBody(body, JSON_TYPE);
    expect(answer).toMatchObject({
      status: 422,
      body: { message: expect.stringMatching(message), url: "https://forge.example/api/swagger" },
    });
  });

  it("matches keys in any case, ignores unknown keys, and treats null as absent", async () => {
    const name = freshName("cased");
    const answer = await withBody(
      JSON.stringify({ NAME: name, Description: "d", nothing: [1], private: null }),
      JSON_TYPE,
    );
    expect(answer).toMatchObject({ status: 201, body: { name, description: "d", private: false } });
  });

  it("may begin with a byte order mark", async () => {
    const body = `\u{FEFF}${JSON.stringify({ name: freshName("marked") })}`;
    expect(await withBody(body, JSON_TYPE)).toMatchObject({ status: 201 });
  });

  it("may nest at most 32 levels", async () => {
    const nested = (depth: number) =>
      `{"name":${JSON.stringify(freshName("deep"))},"x":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
    expect(await withBody(nested(32), JSON_TYPE)).toMatchObject({ status: 201 });
    for (const depth of [33, 100_000]) {
      const answer = await withBody(nested(depth), JSON_TYPE);
      expect(answer).toMatchObject({
        status: 422,
        body: { message: expect.stringMatching(/nesting/) },
      });
    }
    const quoted = `{"name":${JSON.stringify(freshName("flat"))},"x":"${'\\"['.repeat(100)}"}`;
    expect(await withBody(quoted, JSON_TYPE)).toMatchObject({ status: 201 });
  });

  // Quadratic time for a body of a megabyte would block an isolate for minutes and let this test
  // time out.
  it.each([
    ["an open text of escaped quotes", `{"a":"${'\\"'.repeat(500_000)}`],
    ["many open quotes", '"'.repeat(1_000_001)],
    ["many backslashes", `"${"\\".repeat(1_000_001)}`],
    ["a long text", JSON.stringify({ a: "x".repeat(1_000_000) })],
    ["a long escaped text", JSON.stringify({ a: '"'.repeat(500_000) })],
    ["many brackets", "[]".repeat(500_000)],
    ["many keys", `{${Array.from({ length: 70_000 }, (_, at) => `"k${at}":${at}`).join(",")}}`],
  ])("is refused in bounded time: %s", async (_, body) => {
    expect(await withBody(body, JSON_TYPE)).toMatchObject({ status: 422 });
  });

  it("is refused when it is not UTF-8", async () => {
    const body = Uint8Array.from([...new TextEncoder().encode('{"name":"a'), 0xff, 0x22, 0x7d]);
    expect(await withBody(body, JSON_TYPE)).toMatchObject({
      status: 422,
      body: { message: "[]: must be UTF-8" },
    });
  });

  it("is refused with 413 above the size limit before it is parsed, with and without Content-Length", async () => {
    const refusal = { status: 413, body: { message: "the body is larger than 1048576 bytes" } };
    const large = `{"name":"${"x".repeat(1_048_576)}`;
    expect(await withBody(large, JSON_TYPE)).toMatchObject(refusal);

    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        if (sent > 100) controller.close();
        else controller.enqueue(new Uint8Array(65_536).fill(32));
      },
    });
    expect(await withBody(endless, JSON_TYPE)).toMatchObject(refusal);
    expect(sent).toBeLessThan(40);
  });

  // Unauthorized callers get no validation errors and cause no parsing cost.
  it("is not read before the caller is authorized", async () => {
    const headers = { "Content-Type": "text/plain" };
    expect(await call("POST", path, { headers, body: "{" })).toMatchObject({ status: 401 });
    const token = await make.token(await make.user(), { scopes: "read:user" });
    expect(await call("POST", path, { token, headers, body: "{" })).toMatchObject({ status: 403 });
  });
});

describe("a resource that the caller may not see", () => {
  it("gets the same response, byte for byte, as a resource that does not exist", async () => {
    const owner = await make.user({ visibility: "private" });
    const repo = await make.repo(owner, { isPrivate: true });
    const org = await make.org([owner], { visibility: "private" });
    const stranger = await make.user();
    const paths = (user: string, name: string, orgName: string) => [
      `/repos/${user}/${name}`,
      `/repos/${user}/${name}/stargazers`,
      `/repos/${user}/${name}/subscribers`,
      `/users/${user}`,
      `/users/${user}/repos`,
      `/orgs/${orgName}`,
      `/orgs/${orgName}/repos`,
      `/orgs/${orgName}/public_members`,
    ];
    const hidden = paths(owner.name, repo.name, org.name);
    const absent = paths("nobody-here", "nothing", "no-org");
    for (const token of [undefined, stranger.token]) {
      const sending = token === undefined ? {} : { token };
      const unknown = await call("GET", "/users/another-nobody", sending);
      for (const [at, path] of hidden.entries()) {
        const answers = [
          await call("GET", path, sending),
          await call("GET", absent[at] ?? "", sending),
        ];
        for (const answer of answers) {
          expect(answer, path).toMatchObject({ status: 404, body: "" });
          expect(plainHeaders(answer), path).toEqual(plainHeaders(unknown));
        }
      }
    }
  });

  it("gets the same response for writes too, which change nothing", async () => {
    const repo = await make.repo(await make.user(), { isPrivate: true });
    const stranger = await make.user();
    for (const [method, json] of [
      ["PATCH", { name: "taken" }],
      ["DELETE", undefined],
    ] as const) {
      const answers = await Promise.all(
        [`/repos/${repo.owner}/${repo.name}`, `/repos/${repo.owner}/nothing`].map((path) =>
          call(method, path, { as: stranger, ...(json && { json }) }),
        ),
      );
      expect(answers.map(({ status, body }) => ({ status, body }))).toEqual([
        { status: 404, body: "" },
        { status: 404, body: "" },
      ]);
    }
    const rows = await db.select().from(repositories).where(eq(repositories.id, repo.id));
    expect(rows).toMatchObject([{ name: repo.name }]);
  });
});

describe("a method", () => {
  it.each([
    ["POST", "/version", "GET, HEAD"],
    ["PUT", "/repos/a/b", "DELETE, GET, HEAD, PATCH"],
    ["DELETE", "/user", "GET, HEAD"],
    ["GET", "/markdown", "POST"],
    ["HEAD", "/markdown", "POST"],
    ["PATCH", "/users/a/tokens", "GET, HEAD, POST"],
    ["OPTIONS", "/user/starred/a/b", "DELETE, GET, HEAD, PUT"],
  ])("that a path does not support is refused with 405: %s %s", async (method, path, allowed) => {
    const answer = await call(method, path);
    expect(answer).toMatchObject({ status: 405, body: "" });
    expect(answer.headers.get("Allow")?.split(", ").toSorted().join(", ")).toBe(allowed);
  });

  it.each(["", "/", "/repos", "/repos/a", "/users", "/no/such/route", "/repos/a/b/c/d/e"])(
    "of any kind gets 404 on a path without a route: %j",
    async (path) => {
      for (const method of ["GET", "POST", "DELETE"]) {
        const answer = await call(method, path);
        expect(answer, method).toMatchObject({ status: 404, body: "" });
        expect(answer.headers.get("Allow")).toBeNull();
      }
    },
  );

  it("HEAD gets the response of GET without the body", async () => {
    const repo = await make.repo(await make.user());
    for (const path of [
      "/version",
      `/repos/${repo.owner}/${repo.name}`,
      "/repos/nobody/nothing",
      "/user",
    ]) {
      const [get, head] = [await call("GET", path), await call("HEAD", path)];
      expect(head.status).toBe(get.status);
      expect(head.headers.get("Content-Type")).toBe(get.headers.get("Content-Type"));
    }
    const response = await visit("HEAD", "/api/v1/no/such/route");
    expect(response).toMatchObject({ status: 404, body: "" });
  });
});

describe("every response", () => {
  it("has a unique request id and the security and cache headers", async () => {
    const user = await make.user();
    const owned = await make.repo(user);
    const requests: [string, string, number][] = [
      ["GET", "/api/v1/version", 200],
      ["GET", "/api/v1/user", 401],
      ["GET", "/api/v1/repos/nobody/nothing", 404],
      ["POST", "/api/v1/version", 405],
      ["GET", "/api/v1/user?token=x", 401],
      ["GET", `/api/v1/repos/${owned.owner}/${owned.name}`, 200],
      ["GET", "/no/such/page", 404],
      ["GET", "/api/swagger", 200],
      ["GET", "/api/v1/swagger", 303],
      ["GET", "/openapi.json", 200],
      ["GET", "/api/healthz", 200],
      ["GET", "/avatars/1", 200],
    ];
    const ids = new Set<string>();
    for (const [method, path, status] of requests) {
      const answer = await visit(method, path, { headers: { "X-Request-Id": "mine" } });
      expect(answer.status, path).toBe(status);
      const id = answer.headers.get("X-Request-Id") ?? "";
      expect(id, path).toMatch(UUID);
      ids.add(id);
      expect(answer.headers.get("X-Content-Type-Options"), path).toBe("nosniff");
      expect(answer.headers.get("X-Frame-Options"), path).toBe("SAMEORIGIN");
      expect(answer.headers.get("Cache-Control"), path).toMatch(/^(max-age=0, private|public)/);
      expect(answer.headers.get("Access-Control-Allow-Origin"), path).toBeNull();
    }
    expect(ids.size).toBe(requests.length);
  });

  it("to a write has a bookmark with which a read sees the write; responses to reads have none", async () => {
    const user = await make.user();
    const created = await call("POST", "/user/repos", { as: user, json: { name: "marked" } });
    const bookmark = created.headers.get("x-d1-bookmark") ?? "";
    expect(bookmark).toMatch(/^[0-9a-f]{8}(-[0-9a-f]+){3}$/);
    const headers = { "x-d1-bookmark": bookmark };
    const read = await call("GET", `/repos/${user.name}/marked`, { headers });
    expect(read.status).toBe(200);
    expect(read.headers.get("x-d1-bookmark")).toBeNull();
  });

  it("has no bookmark where nothing is written: of refused requests, of reads, and of writes that change nothing", async () => {
    const [user, stranger] = [await make.user(), await make.user()];
    const repo = await make.repo(user);
    const path = `/repos/${repo.owner}/${repo.name}`;
    const starred = `/user/starred/${repo.owner}/${repo.name}`;
    const bookmarkOf = async (...request: Parameters<typeof call>) => {
      const { status, headers } = await call(...request);
      return [status, headers.has("x-d1-bookmark")];
    };
    expect(await bookmarkOf("PUT", starred, { as: stranger })).toEqual([204, true]);
    expect(await bookmarkOf("PUT", starred, { as: stranger })).toEqual([204, false]);
    expect(await bookmarkOf("DELETE", starred, { as: stranger })).toEqual([204, true]);
    expect(await bookmarkOf("DELETE", starred, { as: stranger })).toEqual([204, false]);
    const taken = { as: user, json: { name: repo.name } };
    expect(await bookmarkOf("POST", "/user/repos", taken)).toEqual([409, false]);
    expect(await bookmarkOf("PATCH", path, { as: stranger, json: {} })).toEqual([403, false]);
    expect(await bookmarkOf("PATCH", path, { json: {} })).toEqual([401, false]);
    expect(await bookmarkOf("PATCH", "/repos/a/b", { as: user, json: {} })).toEqual([404, false]);
    const text = { as: user, json: { Text: "#1", Context: `${repo.owner}/${repo.name}` } };
    expect(await bookmarkOf("POST", "/markdown", text)).toEqual([200, false]);
    // A lone statement that returns what it has written.
    const json = { name: freshName("renamed") };
    expect(await bookmarkOf("PATCH", path, { as: user, json })).toEqual([200, true]);
  });

  // The header is passed to the database unchanged.
  it.each(["", "x", "first-primary", "-".repeat(3000), "'", "00000000-00000000-00000000-00000000"])(
    "is served despite the invalid bookmark %j",
    async (bookmark) => {
      const headers = { "x-d1-bookmark": bookmark };
      for (const method of ["GET", "DELETE"]) {
        const answer = await call(method, "/user", { as: await make.user(), headers });
        expect(answer.status, method).toBe(method === "GET" ? 200 : 405);
      }
    },
  );
});

describe("an internal error", () => {
  const callBare = serviceWith({}, { DB: env.BARE_DB });

  it("is rendered with only the request's id, and logged without data of the request", async () => {
    const secret = "0123456789abcdef".repeat(2);
    const password = "a long secret phrase";
    const requests = [
      () => callBare("GET", "/user", { token: secret }),
      () => callBare("GET", "/user", { headers: basic("some-login", password) }),
      () => callBare("GET", `/users/${secret}`),
      () => callBare("GET", `/users/${encodeURIComponent(`x\n    at ${secret}`)}`),
      () => callBare("POST", "/user/repos", { token: secret, json: { name: "a-secret-name" } }),
    ];
    for (const send of requests) {
      const { answer, line, text } = await logged(send);
      expect(answer).toMatchObject({
        status: 500,
        body: {
          message: `internal error, request ${line.id}`,
          url: "https://forge.example/api/swagger",
        },
      });
      expect(Object.keys(answer.body)).toEqual(["message", "url"]);
      expect(answer.headers.get("X-Content-Type-Options")).toBe("nosniff");
      for (const leak of [secret, password, "some-login", "a-secret-name", "select ", "insert "]) {
        expect(text, leak).not.toContain(leak);
      }
      const lines = text
        .split("\n")
        .map((each) => JSON.parse(each) as { event: string; id: string });
      expect(lines.map(({ event, id }) => [event, id])).toEqual([
        ["request:bug", line.id],
        ["request", line.id],
      ]);
    }
  });

  it("in a search is rendered in the format of search responses", async () => {
    const { answer, line } = await logged(() => callBare("GET", "/repos/search?q=abc"));
    expect(answer).toMatchObject({
      status: 500,
      body: { ok: false, error: `internal error, request ${line.id}` },
    });
  });
});

describe("the log", () => {
  it("has one line for a request, with its route and costs and no data of the request", async () => {
    const user = await make.user();
    const name = freshName("logged");
    const { answer, text } = await logged(() =>
      call("POST", "/user/repos?q=a-query", { as: user, json: { name, description: "words" } }),
    );
    expect(text.split("\n")).toHaveLength(1);
    const line = JSON.parse(text) as Record<string, unknown>;
    expect(line).toEqual({
      event: "request",
      id: answer.headers.get("X-Request-Id"),
      method: "POST",
      route: "/api/v1/user/repos",
      status: 201,
      durationMs: expect.any(Number),
      d1Calls: expect.any(Number),
      d1Rounds: expect.any(Number),
      d1RowsRead: expect.any(Number),
      d1RowsWritten: expect.any(Number),
      sqlBuilds: expect.any(Number),
      r2Calls: 0,
      r2Rounds: 0,
      objectCalls: 0,
      bufferedBytesPeak: 0,
      steps: 0,
    });
    for (const sent of [user.token, user.name, name, "words", "a-query"]) {
      expect(text).not.toContain(sent);
    }
  });

  it("states the route of a refused request, not its path", async () => {
    const { line, text } = await logged(() => call("GET", "/repos/nobody-here/nothing"));
    expect(line).toMatchObject({ status: 404, route: "/api/v1/repos/:owner/:repo" });
    expect(text).not.toContain("nobody-here");
    const unknown = await logged(() => call("GET", "/no/such/secret"));
    expect(unknown.text).not.toContain("secret");
  });
});

describe("a query", () => {
  // Ids are 64 bits wide: a filter by one that no row has must not become a list of everything.
  it.each(["9007199254740993", "9223372036854775807", "-2", "-9223372036854775808"])(
    "with the id %s, which nobody has, finds nothing",
    async (id) => {
      await make.repo(await make.user());
      const admin = await make.admin();
      const nothing = { status: 200, body: { data: [] } };
      for (const name of ["uid", "team_id", "starredBy"]) {
        expect(await call("GET", `/repos/search?${name}=${id}`), name).toMatchObject(nothing);
      }
      expect((await call("GET", `/users/search?uid=${id}`)).body).toEqual([]);
      expect((await call("GET", `/admin/users?source_id=${id}`, { as: admin })).body).toEqual([]);
    },
  );

  it.each(["", "0", "x", "1.0"])("with the id %j has no filter", async (id) => {
    const { name } = await make.repo(await make.user());
    const found = await call("GET", `/repos/search?q=${name}&uid=${id}`);
    expect(found.body.data).toMatchObject([{ name }]);
  });

  it.each([
    ...["1", "t", "T", "TRUE", "true", "True", "on"].map((text) => [text, [true]] as const),
    ...["0", "false", "off", "no", "yes", "TrUe", "2", " true"].map(
      (text) => [text, [false]] as const,
    ),
    ["", [false, true]] as const,
  ])("with the boolean %j finds repositories that are templates: %j", async (text, expected) => {
    const owner = await make.user();
    await make.repo(owner, { isTemplate: true });
    await make.repo(owner, { isTemplate: false });
    const query = new URLSearchParams({ uid: String(owner.id), template: text });
    const found = await call("GET", `/repos/search?${query}`);
    const templates = found.body.data.map(({ template }: { template: boolean }) => template);
    expect(templates.toSorted()).toEqual(expected);
  });

  it("takes the first of a parameter that is sent twice", async () => {
    const owner = await make.user();
    const first = await make.repo(owner);
    const second = await make.repo(owner);
    const query = `q=${first.name}&q=${second.name}&uid=${owner.id}&uid=1&sort=id&sort=nonsense`;
    const found = await call("GET", `/repos/search?${query}`);
    expect(found.body.data).toMatchObject([{ name: first.name }]);
  });
});

describe("a path", () => {
  it.each([
    ["a trailing slash", "", "/"],
    ["trailing slashes", "", "///"],
    ["a doubled slash", "/", ""],
    ["doubled slashes everywhere", "//", "//"],
  ])("with %s reaches the same route", async (_, before, after) => {
    const { owner, name } = await make.repo(await make.user());
    const path = `${before}/repos${before}/${owner}${before}/${name}`;
    const { body } = await call("GET", `/repos/${owner}/${name}`);
    expect(await call("GET", path + after)).toMatchObject({ status: 200, body });
    const branches = await call("GET", `${path}/branches${after}?limit=1`);
    expect(branches).toMatchObject({ status: 200, body: [] });
  });

  it("with doubled slashes leads to the new name of a renamed repository, and can be written to", async () => {
    const owner = await make.user();
    const { name } = await make.repo(owner);
    const renamed = freshName("renamed");
    const json = { name: renamed };
    const edited = await call("PATCH", `//repos/${owner.name}//${name}/`, { as: owner, json });
    expect(edited).toMatchObject({ status: 200, body: json });
    const moved = await call("GET", `//repos//${owner.name}/${name}//branches/`);
    expect(moved.status).toBe(301);
    expect(moved.headers.get("Location")).toBe(
      `https://forge.example/api/v1/repos/${owner.name}/${renamed}/branches`,
    );
  });

  // An encoded slash belongs to a name.
  it("keeps encoded slashes", async () => {
    const { owner, name } = await make.repo(await make.user());
    expect((await call("GET", `/repos/${owner}%2F%2F${name}`)).status).toBe(404);
    expect((await call("GET", `/repos/${owner}/${name}%2F`)).status).toBe(404);
  });
});

describe("a page of a list", () => {
  const TOTAL = 7;
  const listOf = async () => {
    const owner = await make.user();
    for (let at = 0; at < TOTAL; at += 1) await make.repo(owner);
    return { owner, path: `/users/${owner.name}/repos` };
  };
  const numbersOf = (link: string | null): Record<string, string> =>
    Object.fromEntries(
      [...(link ?? "").matchAll(/[?&]page=(\d+)[^>]*>; rel="(\w+)"/g)].map(([, page, rel]) => [
        rel,
        page,
      ]),
    );

  it("has links in the order next, last, first, prev, with the query of the request", async () => {
    const { path } = await listOf();
    const { headers, body } = await call("GET", `${path}?page=2&limit=3&b=%3E%22&a=x`);
    const at = (page: number) =>
      `<https://forge.example/api/v1${path}?a=x&b=%3E%22&limit=3&page=${page}>`;
    expect(body).toHaveLength(3);
    expect(headers.get("X-Total-Count")).toBe("7");
    expect(headers.get("Link")).toBe(
      `${at(3)}; rel="next",${at(3)}; rel="last",${at(1)}; rel="first",${at(1)}; rel="prev"`,
    );
    expect(headers.get("Access-Control-Expose-Headers")).toBe("X-Total-Count, Link");
  });

  it.each([
    ["", 7, {}],
    ["page=0", 7, {}],
    ["page=-1", 7, {}],
    ["page=abc", 7, {}],
    ["page=", 7, {}],
    ["page=1e9&limit=3", 3, { next: "2", last: "3" }],
    ["page=1.5&limit=3", 3, { next: "2", last: "3" }],
    ["page=%2B2&limit=3", 3, { next: "3", last: "3", first: "1", prev: "1" }],
    ["page=3&limit=3", 1, { first: "1", prev: "2" }],
    ["page=4&limit=3", 0, { first: "1", prev: "2" }],
    ["page=1000000000&limit=3", 0, { first: "1", prev: "2" }],
    ["page=999999999999999&limit=50", 0, {}],
    ["page=9223372036854775807&limit=3", 0, { first: "1", prev: "2" }],
    ["page=99999999999999999999&limit=3", 0, { first: "1", prev: "2" }],
    ["page=-9223372036854775808", 7, {}],
    ["limit=0", 7, {}],
    ["limit=-1", 7, {}],
    ["limit=abc", 7, {}],
    ["limit=1", 1, { next: "2", last: "7" }],
    ["limit=51", 7, {}],
    ["limit=9223372036854775807", 7, {}],
    ["page=3&limit=3&page=1&limit=50", 1, { first: "1", prev: "2" }],
  ])("requested with %j has %i items and the links %j", async (query, length, links) => {
    const { path } = await listOf();
    const { status, body, headers } = await call("GET", `${path}?${query}`);
    expect({ status, length: body.length }).toEqual({ status: 200, length });
    expect(headers.get("X-Total-Count")).toBe("7");
    expect(numbersOf(headers.get("Link"))).toEqual(links);
  });

  it("has 30 items by default, 50 at most, and follows the configuration", async () => {
    const owner = await make.user();
    for (let at = 0; at < 52; at += 1) await make.repo(owner);
    const path = `/users/${owner.name}/repos`;
    expect((await call("GET", path)).body).toHaveLength(30);
    expect((await call("GET", `${path}?limit=51`)).body).toHaveLength(50);
    expect((await call("GET", `/repos/search?uid=${owner.id}&limit=51`)).body.data).toHaveLength(
      50,
    );

    const set = serviceWith({
      DEFAULT_PAGING_NUM: "4",
      MAX_RESPONSE_ITEMS: "6",
      EXPLORE_PAGE_SIZE_MAX: "5",
    });
    expect((await set("GET", path)).body).toHaveLength(4);
    expect((await set("GET", `${path}?limit=51`)).body).toHaveLength(6);
    expect((await set("GET", `/repos/search?uid=${owner.id}&limit=51`)).body.data).toHaveLength(5);
  });
});
