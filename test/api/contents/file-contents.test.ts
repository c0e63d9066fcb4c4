import { describe, expect, it } from "vitest";

import { MODE_SUBMODULE, MODE_SYMLINK } from "../../../src/git/object/tree.ts";
import { disableCode } from "../../support/disable-code.ts";
import { call, type Sending } from "../../support/call.ts";
import { makeFiles } from "../../support/files.ts";
import { make, type TestRepo } from "../../support/make.ts";
import { push, pushCommands } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

const FILES = {
  "README.md": "# read me",
  "docs/deep/one.txt": "one",
  "docs/deep/two.txt": "two",
  "docs/grüße und #1?.txt": "hello",
  "lib/linked": { mode: MODE_SUBMODULE, content: "1".repeat(40) },
  link: { mode: MODE_SYMLINK, content: "docs" },
};

async function makePushed(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const first = makeFiles(FILES);
  await push(owner, repo, first.oid, first.pack);
  const files = { ...FILES, "docs/deep/two.txt": "three" };
  const made = makeFiles(files, { seconds: 1_700_000_100, before: first });
  await pushCommands(owner, repo, [{ ref: "refs/heads/main", old: first.oid, new: made.oid }], {
    pack: made.pack,
  });
  return { owner, repo, first, made };
}

const pathOf = ({ owner, name }: TestRepo, query = ""): string =>
  `/repos/${owner}/${name}/file-contents${query}`;
const asQuery = (value: unknown): string => `?body=${encodeURIComponent(JSON.stringify(value))}`;
const request = (repo: TestRepo, files: unknown, sending: Sending = {}, query = "") =>
  call("POST", pathOf(repo, query), { ...sending, json: { files } });

describe("/repos/{owner}/{repo}/file-contents", () => {
  it("returns the items of /contents in the order of the paths, with null for unknown paths", async () => {
    const { repo, first, made } = await makePushed();
    const files = [
      "docs/deep/two.txt",
      "none",
      "docs/grüße und #1?.txt",
      "README.md",
      "docs/deep/one.txt",
      "README.md",
      "link",
      "lib/linked",
      "docs/deep",
    ];
    const { answer, line } = await logged(() => request(repo, files));
    expect(answer.status).toBe(200);
    const items = await Promise.all(
      files.slice(0, -1).map(async (path) => {
        const name = path.split("/").map(encodeURIComponent).join("/");
        const at = `/repos/${repo.owner}/${repo.name}/contents/${name}`;
        return (await call("GET", at)).body || null;
      }),
    );
    expect(items[1]).toBeNull();
    expect(answer.body.slice(0, -1)).toEqual(items);
    expect(answer.body.at(-1)).toMatchObject({ type: "dir", sha: made.oids["docs/deep"] });
    expect(answer.body[0].last_commit_sha).toBe(made.oid);
    expect(answer.body[4].last_commit_sha).toBe(first.oid);
    expect(answer.body).toHaveLength(files.length);
    expect(line.d1Rounds).toBe(1);
    expect(line).toMatchObject({ objectCalls: 1 });
    expect((await call("GET", pathOf(repo, asQuery({ files })))).body).toEqual(answer.body);
  });

  it("reads at a branch, a tag or a commit", async () => {
    const { repo, first } = await makePushed();
    const old = await request(repo, ["docs/deep/two.txt"], {}, `?ref=${first.oid}`);
    expect(old.body).toMatchObject([{ content: btoa("two"), last_commit_sha: first.oid }]);
    const get = `${pathOf(repo, asQuery({ Files: ["docs/deep/two.txt"] }))}&ref=${first.oid}`;
    expect((await call("GET", get)).body).toEqual(old.body);
    for (const ref of ["none", "0".repeat(40), "x".repeat(5000)]) {
      expect((await request(repo, ["README.md"], {}, `?ref=${ref}`)).status, ref).toBe(404);
    }
  });

  it("returns null for invalid paths", async () => {
    const { repo } = await makePushed();
    const paths = [
      "",
      "/",
      ".",
      "..",
      "../README.md",
      "docs/../README.md",
      "docs/./deep",
      "link/deep",
    ];
    const more = ["README.md/x", ".git", ".git/config", "\0", "README.md\0", "x".repeat(5000)];
    const { status, body } = await request(repo, [...paths, ...more, "a/".repeat(2500), "\uD800"]);
    expect([status, body]).toEqual([200, Array(16).fill(null)]);
  });

  it("refuses a request without a list of paths", async () => {
    const { repo } = await makePushed();
    for (const files of [undefined, null, "README.md", { a: 1 }, [1], [null], [["a"]]]) {
      expect((await request(repo, files)).status, JSON.stringify(files)).toBe(422);
      const { status, body } = await call("GET", pathOf(repo, asQuery({ files })));
      expect([status, Object.keys(body)]).toEqual([400, ["message", "url"]]);
    }
    for (const query of ["", "?body=", "?body={", "?body=1", "?body=[]", "?body=%00"]) {
      expect((await call("GET", pathOf(repo, query))).status, query).toBe(400);
    }
    expect((await request(repo, [])).body).toEqual([]);
  });

  it("ends after a page of files, and before a file that would exceed the response size", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const large = new Uint8Array(7 * 1024 * 1024);
    const made = makeFiles({ a: large, b: new Uint8Array(11 * 1024 * 1024), c: large, d: "d" });
    await push(owner, repo, made.oid, made.pack);
    const { body } = await request(repo, ["d", "a", "b", "c", "d"]);
    expect(
      (body as Record<string, unknown>[]).map((each) => [
        each["name"],
        each["size"],
        each["content"] === null,
      ]),
    ).toEqual([
      ["d", 1, false],
      ["a", large.length, false],
      ["b", 11 * 1024 * 1024, true],
    ]);
    const many = await request(repo, Array(70).fill("d"));
    expect(many.body).toHaveLength(50);
    const settings = await call("GET", "/settings/api");
    expect(settings.body.max_response_items).toBe(50);
    expect(settings.body.default_max_response_size).toBe(16 * 1024 * 1024);
  });

  it("requires read access to the code", async () => {
    const { owner, repo } = await makePushed({ isPrivate: true });
    const stranger = await make.user();
    const get = pathOf(repo, asQuery({ files: ["README.md"] }));
    for (const sending of [{}, { as: stranger }]) {
      expect((await request(repo, ["README.md"], sending)).status).toBe(404);
      expect((await call("GET", get, sending)).status).toBe(404);
    }
    expect((await request(repo, ["README.md"], { as: owner })).status).toBe(200);
    expect((await call("GET", get, { as: owner })).status).toBe(200);
    const empty = await make.repo(owner);
    expect((await request(empty, ["README.md"])).status).toBe(404);
    await disableCode(repo);
    expect((await call("GET", get)).status).toBe(404);
    expect((await call("GET", get, { as: owner })).status).toBe(200);
  });
});
