import { describe, expect, it } from "vitest";

import { admin, callApi, makeRepo, readRepo } from "../support/forge.ts";
import { commit, git, makeDirectory, makeWork, tryGit } from "../support/git.ts";

/** The server's messages line by line, each in its last state. */
const remoteLines = (output: string): string[] =>
  output
    .split(/[\r\n]/)
    .filter((line) => line.startsWith("remote: "))
    .map((line) => line.slice(8).trimEnd());

describe("progress and push options", () => {
  it("reports the object count of a fetch, and nothing if the client wants no progress", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    const lines = Array.from({ length: 500 }, (_, at) => `line ${at} ${(at * 7919) % 10007}`);
    await commit(work, { big: lines.join("\n") });
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
    const fetch = (...options: string[]) =>
      tryGit(makeDirectory(), ["clone", ...options, repo.url, "copy"]);
    const passed = await fetch("--progress");
    expect(remoteLines(passed.output)).toEqual([
      "Enumerating objects: 3, done.",
      "Counting objects: 100% (3/3), done.",
      "Total 3 (delta 0), reused 0 (delta 0), pack-reused 3 (from 1)",
    ]);

    lines[250] = "changed";
    await commit(work, { big: lines.join("\n") });
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
    for (const version of ["0", "2"]) {
      const written = await fetch("--progress", "-c", `protocol.version=${version}`);
      expect(remoteLines(written.output)).toEqual([
        "Enumerating objects: 6, done.",
        "Counting objects: 100% (6/6), done.",
        "Total 6 (delta 0), reused 0 (delta 0), pack-reused 6 (from 2)",
      ]);
      const quiet = await fetch("--quiet", "-c", `protocol.version=${version}`);
      expect(remoteLines(quiet.output)).toEqual([]);
    }
  });

  it("reports the delta count of a push, and suggests a pull request for a new branch", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    const lines = Array.from({ length: 500 }, (_, at) => `line ${at} ${(at * 7919) % 10007}`);
    await commit(work, { big: lines.join("\n") });
    const first = await tryGit(work, ["push", "--progress", repo.ownUrl, "main"]);
    expect(remoteLines(first.output)).toEqual(["Processed 1 reference"]);

    lines[250] = "changed";
    await commit(work, { big: lines.join("\n") });
    const push = (...specs: string[]) =>
      tryGit(work, ["push", "--progress", "--thin", repo.ownUrl, ...specs]);
    const thin = await push("main:fix/größe");
    expect(remoteLines(thin.output)).toEqual([
      "Resolving deltas: 100% (1/1), completed with 1 local object.",
      "Processed 1 reference",
      "",
      "Create a new pull request for 'fix/größe':",
      `  ${repo.url.replace(/\.git$/, "")}/pulls/new/fix/gr%C3%B6%C3%9Fe`,
      "",
    ]);
    expect((await push("main:refs/heads/main", "main:refs/tags/v1")).output).not.toContain(
      "pull request",
    );
    // Without a terminal, and so without progress, or with --quiet: the hint comes all the same.
    for (const options of [[], ["--quiet"]]) {
      await commit(work, { small: String(options) });
      const args = ["push", ...options, repo.ownUrl, "main:fix/größe"];
      expect(remoteLines((await tryGit(work, args)).output)).toEqual([
        "",
        "Create a new pull request for 'fix/größe':",
        expect.stringMatching(/^ {2}http.*pulls.new.fix/),
        "",
      ]);
    }
    await callApi(admin, "PATCH", repo.path, { has_pull_requests: false });
    expect((await push("main:none")).output).not.toContain("pull request");
  });

  it("applies push options to the repository", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    await commit(work, { a: "1" });
    const options = ["-o", "repo.private=true", "-o", "repo.template=true", "-o", "other"];
    await git(work, ["push", "--quiet", ...options, repo.ownUrl, "main"]);
    expect(await readRepo(repo)).toMatchObject({ private: true, template: true });
  });

  it("uses side-bands from the first line on if the client requests it", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    await commit(work, { a: "1" });
    await commit(work, { a: "2" });
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
    const trace = { GIT_TRACE_PACKET: "1" };
    const ask = async (isAll: string) => {
      const directory = makeDirectory();
      const env = { ...trace, GIT_TEST_SIDEBAND_ALL: isAll };
      const args = ["clone", "--depth", "1", repo.url, "copy"];
      const { code, output } = await tryGit(directory, args, "", env);
      expect(code).toBe(0);
      await git(`${directory}/copy`, ["fetch", "--quiet", "--unshallow"]);
      expect(await git(`${directory}/copy`, ["rev-list", "--count", "HEAD"])).toBe("2");
      return output;
    };
    expect(await ask("1")).toMatch(/> sideband-all/);
    expect(await ask("0")).not.toMatch(/> sideband-all/);
    const wrong = ["fetch", repo.url, "1".repeat(40)];
    expect((await tryGit(work, wrong)).output).toContain("not our ref");
  });
});
