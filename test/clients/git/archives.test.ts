import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

import { expect, it } from "vitest";

import { readZip } from "../../git/archive/read-zip.ts";
import { makeRepo, serviceUrl } from "../support/forge.ts";
import { clone, commit, ENVIRONMENT, git, makeDirectory, tryGit } from "../support/git.ts";
import { makeHistory } from "../support/history.ts";

const ATTRIBUTES = [
  "* text=auto",
  "*.bat text eol=crlf",
  "/.gitattributes export-ignore",
  "secret/ export-ignore",
  "version.txt export-subst",
].join("\n");

/** A history with attributes in its last commit, in a directory and on the service. */
async function publish() {
  const directory = await makeHistory();
  await git(directory, ["checkout", "--quiet", "main"]);
  const files = {
    ".gitattributes": `${ATTRIBUTES}\n`,
    "run.bat": "rem\necho\n",
    "secret/key": "hidden",
    "version.txt": "$Format:%H %an %ci %D$\n",
  };
  await commit(directory, files, "Attributes");
  const repo = await makeRepo();
  await git(directory, ["push", "--quiet", repo.ownUrl, "--all"]);
  await git(directory, ["push", "--quiet", repo.ownUrl, "--tags"]);
  return { directory, repo };
}

async function download(path: string): Promise<Buffer> {
  const answer = await fetch(`${serviceUrl}${path}`);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}

const encoded = (ref: string): string => ref.split("/").map(encodeURIComponent).join("/");

it("archives of every branch and tag are git's, and bundles can be cloned", async () => {
  const { directory, repo } = await publish();
  const bare = makeDirectory();
  await git(bare, ["clone", "--quiet", "--mirror", directory, "."]);
  const shown = "--format=%(refname) %(objectname)";
  const listing = await git(bare, ["for-each-ref", shown, "refs/heads", "refs/tags"]);
  const rows = listing.split("\n").map((line) => line.split(" "));
  let compared = 0;
  /** Statuses for refs that do not lead to a commit. */
  const statuses: number[] = [];
  for (const [fullName = "", oid = ""] of rows) {
    const name = fullName.split("/").slice(2).join("/");
    const path = `/${repo.owner}/${repo.name}/archive/${encoded(name)}`;
    const peeled = await tryGit(bare, ["rev-parse", "--verify", `${fullName}^{commit}`]);
    if (peeled.code !== 0) {
      statuses.push((await fetch(`${serviceUrl}${path}.zip`)).status);
      continue;
    }
    const archive = (format: string): Buffer =>
      execFileSync("git", ["archive", `--format=${format}`, `--prefix=${repo.name}/`, fullName], {
        cwd: bare,
        env: ENVIRONMENT,
        maxBuffer: 1 << 28,
      });
    expect([name, gunzipSync(await download(`${path}.tar.gz`)).equals(archive("tar"))]).toEqual([
      name,
      true,
    ]);
    expect(readZip(await download(`${path}.zip`))).toEqual(readZip(archive("zip")));

    const bundle = join(makeDirectory(), "a.bundle");
    writeFileSync(bundle, await download(`${path}.bundle`));
    expect(await git(bare, ["bundle", "verify", "--quiet", bundle])).toBe("");
    const heads = (await git(bare, ["bundle", "list-heads", bundle])).split("\n");
    expect(heads).toContain(`${oid} ${fullName}`);
    const copy = await clone(bundle);
    expect(await git(copy, ["rev-parse", "HEAD"])).toBe(peeled.stdout.trim());
    expect(await git(copy, ["rev-list", "--count", "HEAD"])).toBe(
      await git(bare, ["rev-list", "--count", fullName]),
    );
    compared++;
  }
  expect(compared).toBeGreaterThan(5);
  expect(statuses.length).toBeGreaterThan(0);
  expect(new Set(statuses)).toEqual(new Set([404]));
});

it("a patch is accepted by git am, and results in the commit's own tree", async () => {
  const { directory, repo } = await publish();
  const copy = makeDirectory();
  await git(copy, ["clone", "--quiet", directory, "."]);
  await git(copy, ["checkout", "--quiet", "main~1"]);
  const path = `/api/v1${repo.path}/git/commits/main.patch`;
  const { code, output } = await tryGit(copy, ["am", "--quiet"], await download(path));
  expect([code, output]).toEqual([0, ""]);
  const logArgs = ["log", "-1", "--format=%T %an %ae %aI %B"];
  expect(await git(copy, [...logArgs, "HEAD"])).toBe(await git(directory, [...logArgs, "main"]));
});
