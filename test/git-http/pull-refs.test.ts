import { describe, expect, it } from "vitest";

import { type Answer, call, visit } from "../support/call.ts";
import { History } from "../support/commits.ts";
import { freshName, make } from "../support/make.ts";
import { makeEmptyPack, pushCommands, storeRefs } from "../support/push.ts";
import { logged } from "../support/usage.ts";

const PULL = "refs/pull/7/head";

/**
 * A repository with a commit that only the ref of a pull request reaches (`pulled`), and one that
 * no ref reaches any more (`gone`). Most requests read the repository without the refs of pull
 * requests.
 */
async function makePulled() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const history = new History();
  const word = freshName("word");
  const files = { file: `${word}\n` };
  const base = history.commit({ files, message: `base ${word}\n` });
  const inner = history.commit({ files: { ...files, inner: "1" }, parents: [base] });
  const pulled = history.commit({ files: { ...files, pulled: `${word} in\n` }, parents: [inner] });
  const gone = history.commit({ files: { ...files, gone: `${word} gone\n` }, parents: [base] });
  const refs = [
    { ref: "refs/heads/main", oid: base },
    { ref: PULL, oid: pulled },
    { ref: "refs/heads/gone", oid: gone },
  ];
  await storeRefs(repo, refs, history.build());
  const path = `/repos/${repo.owner}/${repo.name}`;
  const get = (rest: string) => call("GET", `${path}${rest}`, { as: owner });
  const { body } = await get(`/git/commits/${pulled}`);
  const { body: left } = await get(`/git/commits/${gone}`);
  await pushCommands(owner, repo, [{ ref: "refs/heads/gone", old: gone }]);
  return {
    owner,
    repo,
    base,
    inner,
    path,
    get,
    pulled: { oid: pulled, treeOid: String(body.commit.tree.sha) },
    gone: { oid: gone, treeOid: String(left.commit.tree.sha) },
  };
}
type Pulled = Awaited<ReturnType<typeof makePulled>>;

/** The requests of the API that read a commit, or its tree, by an id. */
const readsOf = (oid: string, treeOid: string): string[] => [
  `/git/commits/${oid}`,
  `/git/commits/${oid.slice(0, 20)}`,
  `/git/trees/${treeOid}`,
  `/commits/${oid}/statuses`,
  `/commits?sha=${oid}`,
  `/contents?ref=${oid}`,
  `/raw/file?ref=${oid}`,
  `/archive/${oid}.tar.gz`,
  `/compare/main...${oid}`,
];

/** As in Gitea, an unknown tree is a bad request. */
const missingAt = (path: string): number => (path.includes("/git/trees/") ? 400 : 404);

describe("what only the ref of a pull request reaches", () => {
  it("is read by its id, unlike what no ref reaches", async () => {
    const { get, pulled, gone } = await makePulled();
    for (const path of readsOf(pulled.oid, pulled.treeOid)) {
      expect([path, (await get(path)).status]).toEqual([path, 200]);
    }
    for (const path of readsOf(gone.oid, gone.treeOid)) {
      expect([path, (await get(path)).status]).toEqual([path, missingAt(path)]);
    }
    const { body } = await get(`/git/trees/${pulled.treeOid}`);
    const { sha } = body.tree.find(({ path }: { path: string }) => path === "pulled");
    expect((await get(`/git/blobs/${sha}`)).status).toBe(200);
  });

  it("costs a second call of the object, and what a branch reaches does not", async () => {
    const { get, base, inner, pulled, gone } = await makePulled();
    const callsOf = async (rest: string) => (await logged(() => get(rest))).line.objectCalls;
    expect(await callsOf("/contents?ref=main")).toBe(1);
    expect(await callsOf(`/git/commits/${base}`)).toBe(1);
    expect(await callsOf(`/git/commits/${"0123".repeat(10)}`)).toBe(1);
    expect(await callsOf(`/git/commits/${pulled.oid}`)).toBe(2);
    // Neither is the value of a ref, so that all refs are asked.
    expect(await callsOf(`/git/commits/${inner}`)).toBe(3);
    expect(await callsOf(`/git/commits/${gone.oid}`)).toBe(3);
  });

  it("begins a branch, by its id", async () => {
    const { owner, path, pulled, gone } = await makePulled();
    const begin = (oid: string) =>
      call("POST", `${path}/branches`, {
        as: owner,
        json: { new_branch_name: `x${oid}`, old_ref_name: oid },
      });
    expect(await begin(pulled.oid)).toMatchObject({
      status: 201,
      body: { commit: { id: pulled.oid } },
    });
    expect((await begin(gone.oid)).status).toBe(404);
  });

  it("is what a push may build on", async () => {
    const { owner, repo, pulled, gone } = await makePulled();
    const push = async ({ oid }: Pulled["gone"], ref: string) => {
      const history = new History();
      const next = history.commit({ files: { top: "1" }, parents: [oid] });
      return pushCommands(owner, repo, [{ ref, new: next }], { pack: history.build() });
    };
    expect((await push(pulled, "refs/heads/on-pulled")).body).toContain("ok refs/heads/on-pulled");
    expect((await push(gone, "refs/heads/on-gone")).body).toContain("ng refs/heads/on-gone");
    const same = { ref: "refs/heads/same", new: pulled.oid };
    const { body } = await pushCommands(owner, repo, [same], { pack: makeEmptyPack() });
    expect(body).toContain("ok refs/heads/same");
  });

  it("does not come along with a fork, by whatever id", async () => {
    const { path, pulled, base } = await makePulled();
    const other = await make.user();
    const { status, body } = await call("POST", `${path}/forks`, { as: other, json: {} });
    expect(status).toBe(202);
    const get = (rest: string) => call("GET", `/repos/${body.full_name}${rest}`, { as: other });
    expect((await get(`/git/commits/${base}`)).status).toBe(200);
    for (const read of readsOf(pulled.oid, pulled.treeOid)) {
      expect([read, (await get(read)).status]).toEqual([read, missingAt(read)]);
    }
    // The two repositories are opened side by side, each with its own refs.
    const across = `${path}/compare/main...${other.name}:`;
    expect((await call("GET", `${across}main`, { as: other })).status).toBe(200);
    expect((await call("GET", `${across}${pulled.oid}`, { as: other })).status).toBe(404);
  });

  it("leaves a repository without branches not empty", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const history = new History();
    const oid = history.commit({ files: { file: "1" } });
    await storeRefs(repo, [{ ref: PULL, oid }], history.build());
    const path = `/repos/${repo.owner}/${repo.name}`;
    const { status } = await call("GET", `${path}/commits?sha=${oid}`, { as: owner });
    expect(status).toBe(200);
    expect((await call("GET", `${path}/commits`, { as: owner })).status).toBe(404);
  });
});

describe("the refs of pull requests", () => {
  it("are listed by the API where the prefix has them", async () => {
    const { get } = await makePulled();
    const names = async (prefix: string) => {
      const { status, body } = await get(`/git/refs${prefix}`);
      return status === 200 ? body.map(({ ref }: { ref: string }) => ref) : status;
    };
    expect(await names("")).toEqual(["refs/heads/main", PULL]);
    for (const prefix of ["/p", "/pull", "/pull/7", "/pull/7/head"]) {
      expect(await names(prefix)).toEqual([PULL]);
    }
    expect(await names("/heads")).toEqual(["refs/heads/main"]);
    expect(await names("/pull/70/")).toBe(404);
    expect(await names("/pull/7/merge")).toBe(404);
  });

  it("are advertised to who fetches, not to who pushes", async () => {
    const { owner, repo } = await makePulled();
    const advertised = async (service: string) => {
      const path = `/${repo.owner}/${repo.name}.git/info/refs?service=${service}`;
      return String((await visit("GET", path, { as: owner })).body);
    };
    expect(await advertised("git-upload-pack")).toContain(PULL);
    const ofPush = await advertised("git-receive-pack");
    expect(ofPush).toContain("refs/heads/main");
    expect(ofPush).not.toContain("refs/pull");
  });
});

/** Formats lines as pkt-lines. A line of four characters, such as `0000`, is copied as it is. */
const pkts = (lines: readonly string[]): string =>
  lines
    .map((line) =>
      line.length === 4 ? line : (line.length + 4).toString(16).padStart(4, "0") + line,
    )
    .join("");

const upload = (
  { owner, repo }: Pick<Pulled, "owner" | "repo">,
  version: number,
  ...lines: string[]
): Promise<Answer> =>
  visit("POST", `/${repo.owner}/${repo.name}.git/git-upload-pack`, {
    as: owner,
    headers: {
      "Content-Type": "application/x-git-upload-pack-request",
      "Git-Protocol": `version=${version}`,
    },
    body: pkts(lines),
  });

describe("a fetch", () => {
  it("lists the refs of pull requests for the prefixes that have them", async () => {
    const pulled = await makePulled();
    const listed = async (...prefixes: string[]) => {
      const lines = prefixes.map((prefix) => `ref-prefix ${prefix}`);
      const { body } = await upload(pulled, 2, "command=ls-refs", "0001", ...lines, "0000");
      return String(body).includes(`${pulled.pulled.oid} ${PULL}`);
    };
    expect(await listed()).toBe(true);
    expect(await listed("")).toBe(true);
    expect(await listed("refs/")).toBe(true);
    expect(await listed("refs/heads/", "refs/pu")).toBe(true);
    expect(await listed("refs/pull/")).toBe(true);
    expect(await listed("refs/heads/", "refs/tags/", PULL)).toBe(true);
    expect(await listed("refs/heads/", "refs/tags/", "HEAD")).toBe(false);
    expect(await listed("refs/pull/70/")).toBe(false);
  });

  it.each([
    ["version 2", 2],
    ["version 0", 0],
  ])("gets what only they reach, and nothing that no ref reaches: %s", async (_, version) => {
    const pulled = await makePulled();
    const fetch = async (oid: string, haves: readonly string[] = []) => {
      const all = haves.map((have) => `have ${have}`);
      const answer =
        version === 2
          ? await upload(
              pulled,
              2,
              "command=fetch",
              "0001",
              `want ${oid}`,
              ...all,
              "done\n",
              "0000",
            )
          : await upload(pulled, 0, `want ${oid} ofs-delta\n`, "0000", ...all, "done\n");
      return String(answer.body);
    };
    expect(await fetch(pulled.base)).toContain("PACK");
    expect(await fetch(pulled.pulled.oid)).toContain("PACK");
    expect(await fetch(pulled.pulled.oid, [pulled.base])).toContain("PACK");
    expect(await fetch(pulled.inner)).toContain("PACK");
    expect(await fetch(pulled.inner, [pulled.pulled.oid])).toContain("PACK");
    expect(await fetch(pulled.gone.oid)).toContain(`not our ref ${pulled.gone.oid}`);
    expect(await fetch(pulled.gone.treeOid)).toContain(`not our ref ${pulled.gone.treeOid}`);
    expect(await fetch(pulled.pulled.treeOid)).toContain("PACK");
  });

  it("acknowledges what the client has of them", async () => {
    const pulled = await makePulled();
    const acknowledged = async (oid: string) => {
      const lines = [`want ${pulled.base}`, `have ${oid}`];
      const { body } = await upload(pulled, 2, "command=fetch", "0001", ...lines, "0000");
      return String(body).includes(`ACK ${oid}`);
    };
    expect(await acknowledged(pulled.base)).toBe(true);
    expect(await acknowledged(pulled.pulled.oid)).toBe(true);
    expect(await acknowledged(pulled.inner)).toBe(true);
    expect(await acknowledged(pulled.gone.oid)).toBe(false);
  });

  it("names them in want-ref and deepen-not", async () => {
    const pulled = await makePulled();
    const fetch = async (...lines: string[]) =>
      String((await upload(pulled, 2, "command=fetch", "0001", ...lines, "done\n", "0000")).body);
    expect(await fetch(`want-ref ${PULL}`)).toContain(`${pulled.pulled.oid} ${PULL}`);
    expect(await fetch("want-ref refs/pull/70/head")).toContain("unknown ref");
    const cut = [`want ${pulled.pulled.oid}`, "deepen-not main"];
    expect(await fetch(...cut)).toContain(`shallow ${pulled.inner}`);
    const other = [`want ${pulled.base}`, "deepen-not pull/7/head"];
    expect(await fetch(...other)).toContain("no commits selected");
  });

  it("shows the size of objects that only they reach, not of those that no ref reaches", async () => {
    const pulled = await makePulled();
    const sizes = async (oid: string) => {
      const lines = ["size\n", `oid ${oid}`];
      const { body } = await upload(pulled, 2, "command=object-info", "0001", ...lines, "0000");
      return new RegExp(`${oid} [1-9]`).test(String(body));
    };
    expect(await sizes(pulled.base)).toBe(true);
    expect(await sizes(pulled.pulled.treeOid)).toBe(true);
    expect(await sizes(pulled.gone.treeOid)).toBe(false);
  });
});
