import { describe, expect, it } from "vitest";

import { type Answer, call } from "../support/call.ts";
import { eventsOf } from "../support/events.ts";
import { refsOf } from "../support/push.ts";
import { World } from "../support/samples/world.ts";

/** Expressions of git and malformed names: no branch, tag or commit can be called so. */
const EXPRESSIONS = [
  ["HEAD~1", "main^", "main^{tree}", "main@{1}", ":/first", "main:a"],
  ["../main", "main/..", "refs/../HEAD", "refs/heads/", ".main", "main.lock", "a b", "main\0"],
].flat();

/** Requests below a repository where the name of a branch, tag or commit is meant. */
const READS: readonly ((name: string) => string)[] = [
  (name) => `commits?sha=${name}`,
  (name) => `commits?not=${name}`,
  (name) => `git/commits/${name}`,
  (name) => `git/commits/${name}.diff`,
  (name) => `git/commits/${name}.patch`,
  (name) => `git/notes/${name}`,
  (name) => `git/trees/${name}`,
  (name) => `statuses/${name}`,
  (name) => `commits/${name}/statuses`,
  (name) => `commits/${name}/status`,
  (name) => `compare/main...${name}`,
  (name) => `compare/${name}...main`,
  (name) => `archive/${name}.zip`,
  (name) => `tarball/${name}`,
  (name) => `bundle/${name}`,
  (name) => `contents?ref=${name}`,
  (name) => `contents/file?ref=${name}`,
  (name) => `contents-ext/file?ref=${name}`,
  (name) => `raw/file?ref=${name}`,
  (name) => `media/file?ref=${name}`,
  (name) => `editorconfig/file?ref=${name}`,
];
const WRITES: readonly (readonly [string, string, (name: string) => object])[] = [
  ["POST", "branches", (name) => ({ new_branch_name: "new", old_ref_name: name })],
  ["PUT", "branches/main", (name) => ({ new_commit_id: name, force: true })],
  ["POST", "tags", (name) => ({ tag_name: "new", target: name })],
  ["POST", "pulls", (name) => ({ title: "a", base: name, head: "some/branch" })],
  // A colon separates the owner of a fork.
  [
    "POST",
    "pulls",
    (name) => ({ title: "a", base: "main", head: name.includes(":") ? "a~1" : name }),
  ],
  ["PATCH", "pulls/{pull}", (name) => ({ base: name })],
  ["POST", "releases", (name) => ({ tag_name: "new", target_commitish: name })],
];

const world = new World();
const isRefused = ({ status, body }: Answer): boolean =>
  status === 422 && typeof body.message === "string";

describe("an expression of git where a name is meant", () => {
  it.each(READS.map((read) => [read("{name}"), read] as const))(
    "is invalid, not unknown: GET %s",
    async (_, read) => {
      const { owner, repo } = await world.codePath();
      const path = `/repos/${owner}/${repo}`;
      for (const expression of EXPRESSIONS) {
        // Comparisons separate the repository of a fork by a colon.
        if (read("").startsWith("compare") && expression.includes(":")) continue;
        const answer = await call("GET", `${path}/${read(encodeURIComponent(expression))}`);
        expect([expression, isRefused(answer)]).toEqual([expression, true]);
      }
      expect((await call("GET", `${path}/${read("unknown")}`)).status).not.toBe(422);
    },
  );

  it.each(WRITES)("is invalid, and nothing is written: %s %s", async (method, rest, toBody) => {
    const [{ owner, repo: name }, user, repo] = [
      await world.codePath(),
      await world.user(),
      await world.repo(),
    ];
    const path = rest.replace("{pull}", String((await world.pullPath()).index));
    const before = [await refsOf(repo), await eventsOf(repo)];
    for (const expression of ["a..b", ...EXPRESSIONS]) {
      const sending = { as: user, json: toBody(expression) };
      const answer = await call(method, `/repos/${owner}/${name}/${path}`, sending);
      expect([expression, isRefused(answer)]).toEqual([expression, true]);
    }
    expect([await refsOf(repo), await eventsOf(repo)]).toEqual(before);
  });

  it("is a path where a path is meant", async () => {
    const { owner, repo } = await world.codePath();
    for (const path of ["raw/a~b", "raw/a..b/c", "contents/a:b", "raw/no^thing/file"]) {
      expect((await call("GET", `/repos/${owner}/${repo}/${path}`)).status, path).toBe(404);
    }
  });
});
