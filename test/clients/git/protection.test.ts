import { describe, expect, it } from "vitest";

import {
  admin,
  type Caller,
  callApi,
  makeRepo,
  makeUser,
  type Repo,
  urlAs,
} from "../support/forge.ts";
import { commit, git, listRemote, makeWork, tryGit } from "../support/git.ts";
import { makeSshPair } from "../support/keyring.ts";

// The words with which git shows what a rule refuses.

const urlOf = (repo: Repo, { name, password }: Caller): string => urlAs(repo.url, name, password);
const protect = (repo: Repo, rule: object) =>
  callApi(admin, "POST", `${repo.path}/branch_protections`, rule);
const edit = (repo: Repo, name: string, rule: object) =>
  callApi(admin, "PATCH", `${repo.path}/branch_protections/${encodeURIComponent(name)}`, rule);

/** A repository with one commit on `main`, and a writer. */
async function makeWorld() {
  const repo = await makeRepo();
  const writer = await makeUser();
  await callApi(admin, "PUT", `${repo.path}/collaborators/${writer.name}`, { permission: "write" });
  const work = await makeWork();
  await commit(work, { "a.txt": "1" });
  await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
  /** Pushes, and returns the lines about refs that were refused; none if none was. */
  const push = async (by: Caller, ...specs: string[]): Promise<string[]> => {
    const { output } = await tryGit(work, ["push", urlOf(repo, by), ...specs]);
    return output.split("\n").filter((line) => line.startsWith(" ! "));
  };
  return { repo, writer, work, push };
}

const rejected = (spec: string, words: string): string[] => [
  ` ! [remote rejected] ${spec} (${words})`,
];

describe("git shows why a rule refuses", () => {
  it("a push, by whomever", async () => {
    const { repo, writer, work, push } = await makeWorld();
    await protect(repo, { rule_name: "main" });
    await commit(work, { "a.txt": "2" });
    const words = rejected("main -> main", "Not allowed to push to protected branch main");
    expect(await push(admin, "main")).toEqual(words);
    expect(await push(writer, "main")).toEqual(words);
    await edit(repo, "main", {
      enable_push: true,
      enable_push_whitelist: true,
      push_whitelist_usernames: [writer.name],
    });
    expect(await push(admin, "main")).toEqual(words);
    expect(await push(writer, "main")).toEqual([]);
  });

  it("a forced push, and a deletion", async () => {
    const { repo, writer, work, push } = await makeWorld();
    await git(work, ["push", "--quiet", repo.ownUrl, "main:dev"]);
    await protect(repo, { rule_name: "*", enable_push: true });
    await git(work, ["commit", "--quiet", "--amend", "-m", "amended"]);
    expect(await push(admin, "--force", "main")).toEqual(
      rejected("main -> main", "branch main is protected from force push"),
    );
    const list = { enable_force_push: true, enable_force_push_allowlist: true };
    await edit(repo, "*", { ...list, force_push_allowlist_usernames: [writer.name] });
    expect(await push(admin, "--force", "main")).toEqual(
      rejected("main -> main", "Not allowed to force-push to protected branch main"),
    );
    expect(await push(admin, "--delete", "main")).toEqual(
      rejected("main", "branch main is the default branch and cannot be deleted"),
    );
    expect(await push(admin, "--delete", "dev")).toEqual(
      rejected("dev", "branch dev is protected from deletion"),
    );
    expect(await push(writer, "--force", "main")).toEqual([]);
  });

  it("changes of protected files, unless files are free", async () => {
    const { repo, work, push } = await makeWorld();
    await protect(repo, {
      rule_name: "main",
      enable_push: true,
      protected_file_patterns: "*.lock;secret/**",
    });
    await commit(work, { "secret/x/y.txt": "1" });
    expect(await push(admin, "main")).toEqual(
      rejected("main -> main", "branch main is protected from changing file secret/x/y.txt"),
    );
    await git(work, ["reset", "--quiet", "--hard", "HEAD~1"]);
    await commit(work, { "free.txt": "1" });
    expect(await push(admin, "main")).toEqual([]);
    await edit(repo, "main", { enable_push: false, unprotected_file_patterns: "docs/**" });
    await commit(work, { "docs/a.md": "1" });
    expect(await push(admin, "main")).toEqual([]);
    await commit(work, { "docs/a.md": "2", "free.txt": "2" });
    expect(await push(admin, "main")).toEqual(
      rejected("main -> main", "Not allowed to push to protected branch main"),
    );
  });

  it("commits without a verified signature", async () => {
    const { repo, writer, work, push } = await makeWorld();
    await protect(repo, { rule_name: "main", enable_push: true, require_signed_commits: true });
    const unsigned = await commit(work, { "a.txt": "2" });
    expect(await push(writer, "main")).toEqual(
      rejected("main -> main", `branch main is protected from unverified commit ${unsigned}`),
    );
    await git(work, ["reset", "--quiet", "--hard", "HEAD~1"]);
    const { path, line } = makeSshPair("ed25519", 256);
    await callApi(writer, "POST", "/user/keys", { title: "signing", key: line });
    const options = [
      ...["-c", "gpg.format=ssh", "-c", `user.signingkey=${path}`],
      ...["-c", `user.email=${writer.name}@example.com`],
    ];
    const email = `${writer.name}@example.com`;
    const made = await tryGit(
      work,
      [...options, "commit", "--quiet", "--allow-empty", "-S", "-m", "signed"],
      "",
      { GIT_COMMITTER_EMAIL: email },
    );
    expect(made.code, made.output).toBe(0);
    expect(await push(writer, "main")).toEqual([]);
  });

  it("a new branch under a pattern, and branches in another case", async () => {
    const { repo, push } = await makeWorld();
    await protect(repo, { rule_name: "rel/*" });
    await protect(repo, { rule_name: "Dev" });
    expect(await push(admin, "main:rel/1", "main:rel/a/b", "main:REL/1", "main:dev")).toEqual([
      ...rejected("main -> rel/1", "Not allowed to push to protected branch rel/1"),
      ...rejected("main -> dev", "Not allowed to push to protected branch dev"),
    ]);
    const refs = (await listRemote(repo.url)).map((line) => line.split("\t")[1]);
    expect(refs.filter((ref) => ref?.startsWith("refs/heads/"))).toEqual([
      "refs/heads/REL/1",
      "refs/heads/main",
      "refs/heads/rel/a/b",
    ]);
  });

  it("a tag", async () => {
    const { repo, writer, work, push } = await makeWorld();
    await callApi(admin, "POST", `${repo.path}/tag_protections`, {
      name_pattern: "v*",
      whitelist_usernames: [writer.name],
    });
    for (const name of ["v1", "v2", "x1"]) await git(work, ["tag", name]);
    expect(await push(admin, "v1", "x1")).toEqual(rejected("v1 -> v1", "Tag v1 is protected"));
    expect(await push(writer, "v2")).toEqual([]);
    expect(await push(admin, "--delete", "v2")).toEqual(rejected("v2", "Tag v2 is protected"));
  });
});
