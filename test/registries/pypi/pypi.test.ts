import { createHash } from "node:crypto";

import { blake2b } from "@noble/hashes/blake2.js";
import { eq } from "drizzle-orm";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";

import { packages } from "../../../src/db/schema/index.ts";
import { formatHex } from "../../../src/lib/hex.ts";
import { visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { listLooseBlobs, looseBlobsSince } from "../../support/loose-blobs.ts";
import {
  type MadeDistribution,
  makeSdist,
  makeWheel,
  metadataOf,
  upload,
} from "./distributions.ts";

const JSON_TYPE = "application/vnd.pypi.simple.v1+json";

let owner: TestUser;
let other: TestUser;

beforeAll(async () => {
  [owner, other] = await Promise.all([make.user(), make.user()]);
});

/** The bytes that no package referred to before the test. */
let looseBefore: ReadonlySet<string>;
beforeEach(async () => {
  looseBefore = await listLooseBlobs();
});

const at = (path: string, user: Pick<TestUser, "name"> = owner): string =>
  `/api/packages/${user.name}/pypi${path}`;

const get = (path: string, headers: Record<string, string> = {}) =>
  visit("GET", at(path), { headers });

const readJson = async (path: string) =>
  JSON.parse((await get(path, { Accept: JSON_TYPE })).body as string);

const isThere = async (name: string): Promise<boolean> =>
  (await db.select().from(packages).where(eq(packages.nameKey, name))).length > 0;

/** Names without anything to normalize. */
const fresh = () =>
  freshName("tiny")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "");

describe("a distribution", () => {
  it("is uploaded, listed and downloaded", async () => {
    const name = fresh();
    const wheel = makeWheel(name, "1.0", {
      more: "Requires-Python: >=3.8\nRequires-Dist: dep>1\n",
    });
    expect(await upload(owner, wheel, { filetype: "bdist_wheel" })).toMatchObject({ status: 201 });
    const sdist = await makeSdist(name, "1.0.0");
    expect(await upload(owner, sdist, { filetype: "sdist" })).toMatchObject({ status: 201 });

    const page = await get(`/simple/${name}/`);
    expect(page.headers.get("Content-Type")).toBe("text/html");
    const hash =
      /sha256=([0-9a-f]{64})" data-requires-python="&gt;=3.8" data-core-metadata="sha256=([0-9a-f]{64})"/;
    expect(page.body).toMatch(hash);
    expect(page.body).toContain(`/pypi/files/${name}/1.0/${sdist.filename}#sha256=`);

    const index = await readJson(`/simple/${name}/`);
    expect(index).toMatchObject({
      meta: { "api-version": "1.1" },
      name,
      versions: ["1.0"],
      files: [
        {
          filename: wheel.filename,
          "requires-python": ">=3.8",
          size: wheel.bytes.length,
          yanked: false,
        },
        { filename: sdist.filename, yanked: false },
      ],
    });
    const [file] = index.files;
    const download = await visit("GET", new URL(file.url).pathname);
    expect(download.status).toBe(200);
    expect(download.headers.get("Content-Length")).toBe(String(wheel.bytes.length));
    const metadata = await visit("GET", `${new URL(file.url).pathname}.metadata`);
    expect(metadata.body).toBe(
      metadataOf(name, "1.0", "Requires-Python: >=3.8\nRequires-Dist: dep>1\n"),
    );
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(metadata.body));
    expect(file["core-metadata"]).toEqual({ sha256: formatHex(new Uint8Array(digest)) });
  });

  it("is found under every spelling of its name and version", async () => {
    const name = fresh();
    const wheel = makeWheel(`${name}-x`, "1.0");
    await upload(owner, { ...wheel, name: `${name}._X`, version: "v1.0.0" });
    for (const spelling of [`${name}-x`, `${name.toUpperCase()}_X`, `${name}.x/`]) {
      expect((await get(`/simple/${spelling}`)).status).toBe(200);
    }
    expect((await get(`/files/${name}_x/1/${wheel.filename}`)).status).toBe(200);
    expect((await get(`/simple/${name}-y/`)).status).toBe(404);
    expect((await get(`/files/${name}-x/1.0/none.whl`)).status).toBe(404);
    expect((await get(`/files/${name}-x/1.0/none.whl.metadata`)).status).toBe(404);
  });

  it("has its metadata shown beside it only if installers may rely on them", async () => {
    const name = fresh();
    const dynamic = metadataOf(name, "1", "Dynamic: Requires-Dist\n");
    const old = metadataOf(name, "2").replace("2.2", "2.1");
    for (const [version, metadata] of [
      ["1", dynamic],
      ["2", old],
      ["3", undefined],
    ] as const) {
      const sdist = await makeSdist(name, version, metadata === undefined ? {} : { metadata });
      expect((await upload(owner, sdist)).status).toBe(201);
    }
    const { files } = await readJson(`/simple/${name}/`);
    expect(files.map((file: Record<string, unknown>) => file["core-metadata"] !== false)).toEqual([
      false,
      false,
      true,
    ]);
    expect((await get(`/files/${name}/1/${name}-1.tar.gz.metadata`)).status).toBe(404);
  });

  it("is there once: a second one is refused, and leaves nothing", async () => {
    const name = fresh();
    const wheel = makeWheel(name, "1.0");
    expect((await upload(owner, wheel)).status).toBe(201);
    expect((await upload(owner, makeWheel(name, "1.0", { more: "Summary: other\n" }))).status).toBe(
      409,
    );
    expect(await readJson(`/simple/${name}/`)).toMatchObject({
      files: [{ size: wheel.bytes.length }],
    });
    await expect.poll(() => looseBlobsSince(looseBefore)).toEqual([]);
  });

  it("that two upload at once is uploaded by exactly one", async () => {
    const name = fresh();
    const answers = await Promise.all(
      ["a", "b", "c"].map((summary) =>
        upload(owner, makeWheel(name, "1.0", { more: `Summary: ${summary}\n` })),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409]);
  });

  it("is checked by each digest that is sent", async () => {
    const name = fresh();
    const wheel = makeWheel(name, "1.0");
    const wrong = "0".repeat(64);
    for (const more of [
      { sha256_digest: wrong },
      { md5_digest: "0".repeat(32) },
      { blake2_256_digest: wrong },
      { sha256_digest: undefined },
    ]) {
      expect((await upload(owner, wheel, more)).status).toBe(400);
    }
    expect(await isThere(name)).toBe(false);
    const all = {
      md5_digest: createHash("md5").update(wheel.bytes).digest("hex"),
      blake2_256_digest: formatHex(blake2b(wheel.bytes, { dkLen: 32 })),
    };
    expect((await upload(owner, wheel, all)).status).toBe(201);
  });
});

describe("an upload", () => {
  const name = "hostile";
  const wheel = makeWheel(name, "1.0");
  const info = "hostile-1.0.dist-info";
  const cases: [string, () => MadeDistribution | Promise<MadeDistribution>, object?][] = [
    ["a name that is none", () => ({ ...wheel, name: "-bad" })],
    ["a version that is none", () => ({ ...wheel, version: "a b" })],
    ["another name than the file's", () => ({ ...wheel, name: "other" })],
    ["another version than the file's", () => ({ ...wheel, version: "1.1" })],
    ["another type than the file's", () => wheel, { filetype: "sdist" }],
    ["another action", () => wheel, { ":action": "doc_upload" }],
    ["an egg", () => ({ ...wheel, filename: "hostile-1.0.egg" })],
    [
      "a path in the file's name",
      () => ({ ...wheel, filename: "../hostile-1.0-py3-none-any.whl" }),
    ],
    ["a wheel's name without tags", () => ({ ...wheel, filename: "hostile-1.0.whl" })],
    ["a wheel that is no zip archive", () => ({ ...wheel, bytes: new Uint8Array(1000) })],
    ["an empty wheel", () => ({ ...wheel, bytes: new Uint8Array() })],
    ["a wheel that is cut", () => ({ ...wheel, bytes: wheel.bytes.slice(0, -30) })],
    [
      "a wheel of another project",
      () => ({ ...makeWheel("other", "1.0"), name, filename: wheel.filename }),
    ],
    [
      "a wheel with metadata of another project",
      () =>
        makeWheel(name, "1.0", {
          entries: [{ path: `${info}/METADATA`, content: metadataOf("other", "1.0") }],
        }),
    ],
    [
      "a wheel with metadata of another version",
      () =>
        makeWheel(name, "1.0", {
          entries: [{ path: `${info}/METADATA`, content: metadataOf(name, "1.1") }],
        }),
    ],
    [
      "a wheel with metadata that are none",
      () =>
        makeWheel(name, "1.0", {
          entries: [{ path: `${info}/METADATA`, content: new Uint8Array([255, 254]) }],
        }),
    ],
    [
      "a wheel with two .dist-info folders",
      () => makeWheel(name, "1.0", { entries: [{ path: "other-1.dist-info/METADATA" }] }),
    ],
    [
      "a wheel with a path that leaves it",
      () => makeWheel(name, "1.0", { entries: [{ path: "../../etc/passwd" }] }),
    ],
    [
      "a wheel with a link",
      () =>
        makeWheel(name, "1.0", { entries: [{ path: "link", content: "/etc", mode: 0o120777 }] }),
    ],
    ["a source distribution without metadata", () => makeSdist(name, "1.0", { metadata: "" })],
    [
      "a source distribution of another version",
      () => makeSdist(name, "1.0", { metadata: metadataOf(name, "2") }),
    ],
    [
      "a source distribution with two folders",
      () => makeSdist(name, "1.0", { entries: [{ path: "other/file" }] }),
    ],
    [
      "a source distribution with a path that leaves it",
      () => makeSdist(name, "1.0", { entries: [{ path: "hostile-1.0/../../x" }] }),
    ],
    [
      "a source distribution with a link that leaves it",
      () =>
        makeSdist(name, "1.0", {
          entries: [{ path: "hostile-1.0/x", tar: { type: "symlink", linkname: "../../etc" } }],
        }),
    ],
    [
      "a source distribution with an absolute link",
      () =>
        makeSdist(name, "1.0", {
          entries: [{ path: "hostile-1.0/x", tar: { type: "symlink", linkname: "/etc" } }],
        }),
    ],
    [
      "a source distribution with a device",
      () =>
        makeSdist(name, "1.0", {
          entries: [{ path: "hostile-1.0/x", tar: { type: "character-device" } }],
        }),
    ],
  ];

  it.each(cases)("with %s is refused, and leaves nothing", async (_, makeOne, more = {}) => {
    const answer = await upload(owner, await makeOne(), more as Record<string, string>);
    expect(answer.status).toBe(400);
    expect(answer.headers.get("Content-Type")).toMatch(/^text\/plain/);
    expect(await isThere(name)).toBe(false);
    await expect.poll(() => looseBlobsSince(looseBefore)).toEqual([]);
  });

  it("with metadata that are too large is refused", async () => {
    const large = makeWheel(name, "1.0", { more: `Summary: ${"x ".repeat(300_000)}\n` });
    expect((await upload(owner, large)).status).toBe(413);
    expect(await isThere(name)).toBe(false);
  });

  it.each([
    ["no body", undefined, {}],
    ["a body that is no form", "x", {}],
    [
      "a form that ends early",
      '--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n',
      { "Content-Type": "multipart/form-data; boundary=X" },
    ],
    [
      "a form without a file",
      '--X\r\nContent-Disposition: form-data; name="name"\r\n\r\na\r\n--X--\r\n',
      { "Content-Type": "multipart/form-data; boundary=X" },
    ],
  ])("with %s is refused", async (_, body, headers) => {
    const answer = await visit("POST", at(""), {
      as: owner,
      headers,
      ...(body !== undefined && { body }),
    });
    expect(answer.status).toBe(400);
  });

  it("by a stranger or by nobody is refused", async () => {
    const project = fresh();
    const made = makeWheel(project, "1.0");
    expect((await upload({ name: owner.name, token: other.token }, made)).status).toBe(401);
    const answer = await visit("POST", at("/"), { body: "x" });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("WWW-Authenticate")).toContain("Basic");
    expect(await isThere(project)).toBe(false);
  });
});

describe("the index", () => {
  it("is sent in the form that the client prefers", async () => {
    const name = fresh();
    await upload(owner, makeWheel(name, "1.0"));
    const typeOf = async (accept: string, query = "") => {
      const answer = await get(`/simple/${name}/${query}`, { Accept: accept });
      return answer.status === 200 ? answer.headers.get("Content-Type") : answer.status;
    };
    const html = "application/vnd.pypi.simple.v1+html";
    expect(await typeOf("*/*")).toBe("text/html");
    expect(await typeOf("text/html,application/xhtml+xml")).toBe("text/html");
    expect(await typeOf(JSON_TYPE)).toBe(JSON_TYPE);
    expect(await typeOf("application/vnd.pypi.simple.latest+json")).toBe(JSON_TYPE);
    expect(await typeOf(`${JSON_TYPE};q=0.1, ${html};q=0.9`)).toBe(html);
    expect(await typeOf(`${JSON_TYPE}, ${html}; q=0.1, text/html; q=0.01`)).toBe(JSON_TYPE);
    expect(await typeOf("text/html", `?format=${encodeURIComponent(JSON_TYPE)}`)).toBe(JSON_TYPE);
    expect(await typeOf("application/vnd.pypi.simple.v2+json")).toBe(406);
    expect(await typeOf("image/png")).toBe(406);
  });

  it("is sent again only after a change", async () => {
    const name = fresh();
    await upload(owner, makeWheel(name, "1.0"));
    const first = await get(`/simple/${name}/`);
    const tag = first.headers.get("ETag") ?? "";
    expect((await get(`/simple/${name}/`, { "If-None-Match": tag })).status).toBe(304);
    await upload(owner, makeWheel(name, "1.1"));
    const second = await get(`/simple/${name}/`, { "If-None-Match": tag });
    expect(second).toMatchObject({ status: 200, body: expect.stringContaining(`${name}-1.1-`) });
  });

  it("lists all projects", async () => {
    const user = await make.user();
    await upload(user, makeWheel("beta", "1"));
    await upload(user, makeWheel("alpha", "1"));
    const page = await visit("GET", at("/simple/", user));
    expect(page.body).toMatch(/simple\/alpha\/">alpha<\/a>[^]*simple\/beta\/">beta<\/a>/);
    const list = await visit("GET", at("/simple", user), { headers: { Accept: JSON_TYPE } });
    expect(JSON.parse(list.body)).toMatchObject({
      projects: [{ name: "alpha" }, { name: "beta" }],
    });
  });

  it("of a private owner is for the owner alone", async () => {
    const secret = await make.user({ visibility: "private" });
    await upload(secret, makeWheel("secret", "1"));
    for (const path of [
      "/simple/",
      "/simple/secret/",
      "/pypi/secret/json",
      "/files/secret/1/secret-1-py3-none-any.whl",
      "/files/secret/1/secret-1-py3-none-any.whl.metadata",
    ]) {
      expect((await visit("GET", at(path, secret), { as: secret })).status).toBe(200);
      expect((await visit("GET", at(path, secret))).status).toBe(401);
      expect((await visit("GET", at(path, secret), { as: other })).status).toBe(404);
    }
  });
});

describe("a yanked version", () => {
  it("is marked with its reason, and can be brought back", async () => {
    const name = fresh();
    await upload(owner, makeWheel(name, "1.0"));
    await upload(owner, makeWheel(name, "1.1"));
    const yank = (method: string, body?: string, as = owner) =>
      visit(method, at(`/${name}/1.1/yank`), { as, ...(body !== undefined && { body }) });
    expect((await yank("PUT", 'broken "quotes"', other)).status).toBe(401);
    expect((await yank("PUT", "x".repeat(2000))).status).toBe(413);
    expect((await readJson(`/simple/${name}/`)).files).toMatchObject([
      { yanked: false },
      { yanked: false },
    ]);
    expect((await yank("PUT", 'broken "quotes"')).status).toBe(204);
    expect((await readJson(`/simple/${name}/`)).files).toMatchObject([
      { yanked: false },
      { yanked: 'broken "quotes"' },
    ]);
    expect((await get(`/simple/${name}/`)).body).toContain(
      'data-yanked="broken &quot;quotes&quot;"',
    );
    expect((await get(`/pypi/${name}/json`)).body).toMatchObject({ info: { version: "1.0" } });
    expect((await yank("PUT")).status).toBe(204);
    expect((await readJson(`/simple/${name}/`)).files).toMatchObject([
      { yanked: false },
      { yanked: true },
    ]);
    expect((await yank("DELETE")).status).toBe(204);
    expect((await readJson(`/simple/${name}/`)).files).toMatchObject([
      { yanked: false },
      { yanked: false },
    ]);
    const missing = await visit("PUT", at(`/${name}/9/yank`), { as: owner });
    expect(missing.status).toBe(404);
  });
});

describe("the JSON document", () => {
  it("shows a project and its versions", async () => {
    const name = fresh();
    const more =
      "Summary: Small\nProject-URL: Source, https://example.org\nClassifier: A\nClassifier: B\n";
    await upload(owner, makeWheel(name, "1.10", { more }));
    await upload(owner, makeWheel(name, "1.9"));
    await upload(owner, makeWheel(name, "2.0rc1"));
    const { body } = await get(`/pypi/${name}/json`);
    expect(body).toMatchObject({
      info: {
        name,
        version: "1.10",
        summary: "Small",
        description: "Hello.\n",
        project_urls: { Source: "https://example.org" },
        classifiers: ["A", "B"],
        yanked: false,
      },
      urls: [
        {
          packagetype: "bdist_wheel",
          python_version: "py3",
          filename: `${name}-1.10-py3-none-any.whl`,
        },
      ],
    });
    expect(Object.keys(body.releases)).toEqual(["1.9", "1.10", "2.0rc1"]);
    const one = await get(`/pypi/${name}/1.9.0/json`);
    expect(one.body).toMatchObject({ info: { version: "1.9" } });
    expect(one.body.releases).toBeUndefined();
    expect((await get(`/pypi/${name}/3/json`)).status).toBe(404);
  });
});
