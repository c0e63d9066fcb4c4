import { expect, it } from "vitest";

import { makeRepo } from "../support/forge.ts";
import { clone, commit, git, makeWork } from "../support/git.ts";

/** A text of 20 MB, more than the service holds in memory, in which some lines contain `mark`. */
function makeText(mark: string): string {
  const parts: string[] = [];
  for (let at = 0; at < 700_000; at++) {
    parts.push(`${(at * 7919) % 700_001} line ${at}${at % 50_000 === 0 ? mark : ""} of it\n`);
  }
  return parts.join("");
}

it("accepts changes of a file that is larger than the memory limit, over several pushes", async () => {
  const repo = await makeRepo();
  const work = await makeWork();
  const push = () => git(work, ["push", "--quiet", "--thin", repo.ownUrl, "main"]);
  await commit(work, { text: makeText(""), other: "1" });
  await push();
  // Each version is a delta against the previous one, which the server finally stores as a delta
  // itself.
  for (const mark of [" one", " two"]) {
    await commit(work, { text: makeText(mark) });
    await push();
  }
  const copy = await clone(repo.url);
  for (const revision of ["HEAD", "HEAD~1", "HEAD~2"]) {
    expect(await git(copy, ["rev-parse", `${revision}:text`])).toBe(
      await git(work, ["rev-parse", `${revision}:text`]),
    );
  }
  // The newest version is stored as a delta against a version that these clones do not receive.
  for (const option of ["--depth=1", "--filter=blob:none"]) {
    const part = await clone(repo.url, option);
    expect(await git(part, ["hash-object", "text"])).toBe(
      await git(work, ["rev-parse", "HEAD:text"]),
    );
  }
  // The entire history in one push, whose pack contains the delta bases.
  const other = await makeRepo();
  await git(copy, ["push", "--quiet", other.ownUrl, "main"]);
  expect(await git(await clone(other.url, "--bare"), ["rev-parse", "main"])).toBe(
    await git(work, ["rev-parse", "main"]),
  );
}, 120_000);
