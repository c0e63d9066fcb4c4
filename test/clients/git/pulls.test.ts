import { describe, expect, it, vi } from "vitest";

import { admin, callApi, makeRepo, makeUser, serviceUrl, urlAs } from "../support/forge.ts";
import { clone, commit, git, listRemote, makeDirectory, makeWork, tryGit } from "../support/git.ts";

/** A repository with two branches, its clone by a reader, and the reader's address of it. */
async function makeWorld() {
  const repo = await makeRepo();
  const work = await makeWork();
  const base = await commit(work, { "README.md": "# One\n" }, "Begin");
  await git(work, ["push", "--quiet", repo.ownUrl, "main", "main:release/1.0"]);
  const reader = await makeUser();
  const url = urlAs(repo.url, reader.name, reader.password);
  return { repo, work, base, reader, url, copy: await clone(url) };
}

type Place = Awaited<ReturnType<typeof makeRepo>>;

const htmlOf = ({ path }: Place): string => `${serviceUrl}${path.replace(/^\/repos/, "")}`;

const pullOf = ({ path }: Place, number: number): Promise<Record<string, unknown>> =>
  callApi(admin, "GET", `${path}/pulls/${number}`);

describe("git push to refs/for", () => {
  it("opens a pull request, and updates it", async () => {
    const { repo, copy, url, reader, base } = await makeWorld();
    const one = await commit(copy, { "README.md": "# Two\n" }, "Better title\n\nAnd why.");
    const opened = await tryGit(copy, ["push", "-o", "topic=better", url, "HEAD:refs/for/main"]);
    expect(opened.code).toBe(0);
    expect(opened.output).toMatch(/^remote: Visit the existing pull request: +$/m);
    expect(opened.output).toContain(`remote:   ${htmlOf(repo)}/pulls/1`);
    // Clients of git 2.29 and later name the ref that was made instead.
    expect(opened.output).toMatch(/\* \[new reference\] +HEAD -> refs\/pull\/1\/head/);
    await vi.waitFor(async () =>
      expect(await pullOf(repo, 1)).toMatchObject({
        title: "Better title",
        body: "And why.",
        mergeable: true,
        user: { login: reader.name },
        head: { sha: one, ref: "refs/pull/1/head" },
        base: { sha: base, ref: "main" },
      }),
    );
    const two = await commit(copy, { more: "1\n" });
    const updated = await tryGit(copy, ["push", url, "HEAD:refs/for/main/better"]);
    expect(updated.output).toContain(`${one.slice(0, 7)}..${two.slice(0, 7)}`);
    expect(updated.output).toContain("HEAD -> refs/pull/1/head");
    expect(updated.output).toContain(`remote:   ${htmlOf(repo)}/pulls/1`);
    expect(await pullOf(repo, 1)).toMatchObject({ head: { sha: two } });

    await git(copy, ["commit", "--quiet", "--amend", "-m", "Another"]);
    const refused = await tryGit(copy, ["push", url, "HEAD:refs/for/main/better"]);
    expect(refused.code).not.toBe(0);
    expect(refused.output).toContain(
      "! [remote rejected] HEAD -> refs/for/main/better (request `force-push` push option)",
    );
    const forced = await tryGit(copy, [
      "push",
      "-o",
      "force-push=true",
      url,
      "HEAD:refs/for/main/better",
    ]);
    expect(forced.output).toContain("(forced update)");
    const head = await git(copy, ["rev-parse", "HEAD"]);
    expect(await pullOf(repo, 1)).toMatchObject({ head: { sha: head } });
  });

  it("takes title and description from options", async () => {
    const { repo, copy, url } = await makeWorld();
    await commit(copy, { more: "1\n" });
    const text = "First line\n\n- [ ] größer\n";
    const encoded = `{base64}${Buffer.from(text).toString("base64")}`;
    const options = ["-o", "title=A title", "-o", `description=${encoded}`];
    await git(copy, ["push", "--quiet", ...options, url, "HEAD:refs/for/release/1.0/topic"]);
    expect(await pullOf(repo, 1)).toMatchObject({
      title: "A title",
      body: text,
      base: { ref: "release/1.0" },
    });
  });

  it("is refused in these words", async () => {
    const { repo, copy, url, work } = await makeWorld();
    await commit(copy, { more: "1\n" });
    const push = async (...args: string[]) =>
      (await tryGit(copy, ["push", url, ...args])).output
        .split("\n")
        .filter((line) => line.includes("[remote rejected]"))
        .map((line) => line.trim().replaceAll(/ +/g, " "));
    expect(await push("HEAD:refs/for/nowhere/topic")).toEqual([
      "! [remote rejected] HEAD -> refs/for/nowhere/topic (base-branch does not exist)",
    ]);
    expect(await push("HEAD:refs/for/main")).toEqual([
      "! [remote rejected] HEAD -> refs/for/main (topic-branch is not set)",
    ]);
    await push("HEAD:refs/for/main/topic");
    expect(await push("HEAD:refs/for/main/topic")).toEqual([
      "! [remote rejected] HEAD -> refs/for/main/topic (new commit is same with old commit)",
    ]);
    expect(await push("HEAD:refs/heads/mine", "HEAD:refs/tags/v1")).toEqual([
      "! [remote rejected] HEAD -> mine (User permission denied for writing.)",
      "! [remote rejected] HEAD -> v1 (User permission denied for writing.)",
    ]);
    const own = await tryGit(work, ["push", "--force", repo.ownUrl, "main:refs/pull/1/head"]);
    expect(own.output).toMatch(/! \[remote rejected\] main +-> refs\/pull\/1\/head \(hidden ref/);
    const empty = await makeRepo();
    const nothing = await tryGit(copy, ["push", empty.ownUrl, "HEAD:refs/for/main/topic"]);
    expect(nothing.output).toContain("(Can't create pull request for an empty repository.)");
  });
});

describe("the refs of a pull request", () => {
  /** With a pull request, and a base that went on. */
  const makePull = async () => {
    const world = await makeWorld();
    const { copy, url, work, repo } = world;
    const head = await commit(copy, { more: "1\n" });
    await git(copy, ["push", "--quiet", url, "HEAD:refs/for/main/topic"]);
    const main = await commit(work, { other: "2\n" });
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
    return { ...world, head, main };
  };

  it.each(["0", "1", "2"])("are fetched by protocol version %s", async (version) => {
    const { repo, head, main } = await makePull();
    const fetched = makeDirectory();
    await git(fetched, ["init", "--quiet"]);
    const fetch = (ref: string) =>
      git(fetched, ["-c", `protocol.version=${version}`, "fetch", "--quiet", repo.url, ref]);
    await fetch("refs/pull/1/head");
    expect(await git(fetched, ["rev-parse", "FETCH_HEAD"])).toBe(head);
    await vi.waitFor(async () => {
      await fetch("refs/pull/1/merge");
      const parents = await git(fetched, ["log", "-1", "--format=%P", "FETCH_HEAD"]);
      expect(parents).toBe(`${main} ${head}`);
    });
    const tree = await git(fetched, ["merge-tree", "--write-tree", main, head]);
    expect(await git(fetched, ["rev-parse", "FETCH_HEAD^{tree}"])).toBe(tree);
    await git(fetched, ["fsck", "--strict"]);
  });

  it("are neither branches, nor copied by clones and forks", async () => {
    const { repo, reader } = await makePull();
    const branches = (await callApi(admin, "GET", `${repo.path}/branches`)) as { name: string }[];
    expect(branches.map(({ name }) => name).toSorted()).toEqual(["main", "release/1.0"]);
    const copy = await clone(repo.url);
    expect(await git(copy, ["for-each-ref", "--format=%(refname)"])).not.toContain("pull");
    expect((await listRemote(repo.url)).join("\n")).toContain("refs/pull/1/head");
    await callApi(reader, "POST", `${repo.path}/forks`, {});
    const fork = repo.url.replace(`/${admin.name}/`, `/${reader.name}/`);
    expect((await listRemote(fork)).join("\n")).not.toContain("refs/pull");
  });
});

describe("git push of a branch", () => {
  it("names its pull request", async () => {
    const { repo, work } = await makeWorld();
    const one = await commit(work, { a: "1\n" });
    const first = await tryGit(work, ["push", repo.ownUrl, "HEAD:fix/größe"]);
    expect(first.output).toMatch(/^remote: Create a new pull request for 'fix\/größe': +$/m);
    expect(first.output).toContain(`remote:   ${htmlOf(repo)}/pulls/new/fix/gr%C3%B6%C3%9Fe`);
    const json = { title: "Fix", head: "fix/größe", base: "main" };
    await callApi(admin, "POST", `${repo.path}/pulls`, json);
    const two = await commit(work, { a: "2\n" });
    const second = await tryGit(work, ["push", repo.ownUrl, "HEAD:fix/größe"]);
    expect(second.output).toMatch(/^remote: Visit the existing pull request: +$/m);
    expect(second.output).toContain(`remote:   ${htmlOf(repo)}/pulls/1`);
    await vi.waitFor(async () =>
      expect(await pullOf(repo, 1)).toMatchObject({ head: { sha: two }, mergeable: true }),
    );
    expect(one).not.toBe(two);
  });
});
