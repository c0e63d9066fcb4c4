import { once } from "node:events";
import { chmodSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { describe, expect, inject, it, onTestFinished } from "vitest";

import {
  admin,
  callApi,
  freshName,
  makeRepo,
  type Repo,
  serviceUrl,
  urlAs,
} from "../support/forge.ts";
import { type GitServer, startGitServer } from "../support/git-server.ts";
import { clone, commit, git, listRemote, makeWork, tryGit } from "../support/git.ts";
import { makeHistory } from "../support/history.ts";
import { expectMirror } from "../support/mirror.ts";

const USER = "mirror-reader";
const PASSWORD = "tr0ub4dor-& 3/ün";

/** Background jobs of a busy machine. */
const PATIENCE = { timeout: 30_000, interval: 200 };

interface MirrorRecord {
  mirror: boolean;
  default_branch: string;
  original_url: string;
  mirror_status?: { state: string; last_error: string };
}
interface PushMirrorRecord {
  remote_name: string;
  remote_address: string;
  state: string;
  last_error: string;
}

const openServer = (): Promise<GitServer> => startGitServer(USER, PASSWORD);
const theirs = (server: GitServer, name: string): string => urlAs(server.url(name), USER, PASSWORD);

async function expectEqual(one: string, other: string): Promise<void> {
  const [copy, original] = [await clone(one, "--mirror"), await clone(other, "--mirror")];
  await expectMirror(copy, original);
  expect(await git(copy, ["symbolic-ref", "HEAD"])).toBe(
    await git(original, ["symbolic-ref", "HEAD"]),
  );
}

/** Makes a pull mirror with credentials in the address. */
async function makeMirror(address: string): Promise<Repo> {
  const name = freshName("mirror");
  const path = `/repos/${admin.name}/${name}`;
  const url = `${serviceUrl}/${admin.name}/${name}.git`;
  await callApi(admin, "POST", "/repos/migrate", {
    clone_addr: address,
    repo_name: name,
    mirror: true,
    mirror_interval: "8h0m0s",
  });
  const readState = async () =>
    (await callApi<{ state: string }>(admin, "GET", `${path}/migration`)).state;
  await expect.poll(readState, PATIENCE).toBe("done");
  return { owner: admin.name, name, url, ownUrl: urlAs(url, admin.name, admin.password), path };
}

const recordOf = (repo: Repo): Promise<MirrorRecord> => callApi(admin, "GET", repo.path);
const stateOf = async (repo: Repo) => (await recordOf(repo)).mirror_status?.state;

/** Asks for a synchronization, and waits until the mirror has the refs of its remote. */
async function syncUntilEqual(repo: Repo, remote: string): Promise<void> {
  await callApi(admin, "POST", `${repo.path}/mirror-sync`);
  const expected = await listRemote(remote);
  await expect.poll(() => listRemote(repo.ownUrl), PATIENCE).toEqual(expected);
}

/** A receiver of webhooks: what it got. */
async function startReceiver(): Promise<{ url: string; bodies: string[] }> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.once("end", () => {
      bodies.push(body);
      response.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, bodies };
}

/** Each form in which the credentials could be shown. */
const SECRETS = [
  PASSWORD,
  encodeURIComponent(PASSWORD),
  new URL(urlAs("http://x/", USER, PASSWORD)).password,
  JSON.stringify(PASSWORD).slice(1, -1),
  Buffer.from(`${USER}:${PASSWORD}`).toString("base64"),
];

async function expectNoSecrets(texts: readonly string[]): Promise<void> {
  const log = await (await fetch(inject("serviceLogUrl"))).text();
  expect(log).toContain("listening on");
  for (const text of [...texts, log]) {
    expect(SECRETS.filter((secret) => text.includes(secret))).toEqual([]);
  }
}

const readAll = (...paths: string[]): Promise<string[]> =>
  Promise.all(paths.map(async (path) => JSON.stringify(await callApi(admin, "GET", path))));

describe("a pull mirror", () => {
  it(
    "follows git's own server through changes, failure and recovery",
    { timeout: 240_000 },
    async () => {
      const server = await openServer();
      await server.create("source");
      const remote = theirs(server, "source");
      const source = await makeHistory();
      await git(source, ["push", "--quiet", "--mirror", remote]);
      const repo = await makeMirror(remote);
      await expectEqual(repo.url, remote);
      const receiver = await startReceiver();
      await callApi(admin, "POST", `${repo.path}/hooks`, {
        type: "gitea",
        active: true,
        events: ["repository"],
        config: { url: receiver.url, content_type: "json" },
      });

      // New commits, a lost branch and tag, a forced push, a branch that is new.
      await commit(source, { "new.txt": "new\n" });
      await git(source, ["branch", "-D", "--quiet", "left"]);
      await git(source, ["tag", "-d", "of-a-blob"]);
      await git(source, ["branch", "--force", "right", "main~1"]);
      await git(source, ["branch", "trunk", "main"]);
      await git(source, ["push", "--quiet", "--mirror", remote]);
      await git(server.directoryOf("source"), ["symbolic-ref", "HEAD", "refs/heads/trunk"]);
      await syncUntilEqual(repo, remote);
      await expectEqual(repo.url, remote);
      await expect.poll(async () => (await recordOf(repo)).default_branch, PATIENCE).toBe("trunk");

      // Nothing new: two requests.
      server.takeCount();
      const { mirror_updated: before } = await callApi(admin, "GET", repo.path);
      await new Promise((resolve) => setTimeout(resolve, 1100));
      await callApi(admin, "POST", `${repo.path}/mirror-sync`);
      const readUpdated = async () => (await callApi(admin, "GET", repo.path))["mirror_updated"];
      await expect.poll(readUpdated, PATIENCE).not.toBe(before);
      expect(server.takeCount()).toBe(2);

      const work = await clone(repo.url);
      await commit(work, { "mine.txt": "mine\n" });
      const refsBefore = await listRemote(repo.url);
      const push = await tryGit(work, ["push", repo.ownUrl, "HEAD"]);
      expect(push.code).not.toBe(0);
      expect(push.output).toContain("mirror repository is read-only");
      expect(await listRemote(repo.url)).toEqual(refsBefore);

      // The remote disappears, and comes back with a commit more.
      const directory = server.directoryOf("source");
      renameSync(directory, `${directory}.away`);
      await callApi(admin, "POST", `${repo.path}/mirror-sync`);
      await expect.poll(() => stateOf(repo), PATIENCE).toBe("failing");
      const { mirror_status } = await recordOf(repo);
      expect(mirror_status?.last_error).not.toBe("");
      expect(await listRemote(repo.url)).toEqual(refsBefore);
      await expect.poll(() => receiver.bodies.join("\n"), PATIENCE).toContain("mirror_failed");
      renameSync(`${directory}.away`, directory);
      await commit(source, { "later.txt": "later\n" });
      await git(source, ["push", "--quiet", "--mirror", remote]);
      await syncUntilEqual(repo, remote);
      await expect.poll(() => stateOf(repo), PATIENCE).toBe("ok");
      await expect.poll(() => receiver.bodies.join("\n"), PATIENCE).toContain("mirror_recovered");
      await expectEqual(repo.url, remote);

      expect((await recordOf(repo)).original_url).toBe(server.url("source"));
      const paths = ["", "/migration", "/events", "/hooks", "/activities/feeds"];
      const answers = await readAll(...paths.map((path) => `${repo.path}${path}`), "/user/events");
      expect(answers[2]).toContain("mirror.failed");
      await expectNoSecrets([...answers, ...receiver.bodies]);

      // It becomes an ordinary repository.
      const ended = await callApi(admin, "PATCH", repo.path, { mirror: false });
      expect(ended).toMatchObject({ mirror: false });
      await git(work, ["push", "--quiet", repo.ownUrl, "HEAD:refs/heads/mine"]);
      expect(await listRemote(repo.url)).toContain(
        `${await git(work, ["rev-parse", "HEAD"])}\trefs/heads/mine`,
      );
    },
  );

  it("does not show the password that its remote refuses", async () => {
    const server = await openServer();
    await server.create("closed");
    const wrong = urlAs(server.url("closed"), USER, "n0t-the-password");
    const name = freshName("mirror");
    const asked = callApi(admin, "POST", "/repos/migrate", {
      clone_addr: wrong,
      repo_name: name,
      mirror: true,
    });
    const refusal = await asked.then(String, String);
    expect(refusal).not.toContain("n0t-the-password");
    expect(refusal).toMatch(/authenti|credential|password/i);
    const log = await (await fetch(inject("serviceLogUrl"))).text();
    expect(log).not.toContain("n0t-the-password");
  });
});

describe("a push mirror", () => {
  it("follows each git push, and shows what its remote refuses", { timeout: 180_000 }, async () => {
    const server = await openServer();
    await server.create("copy");
    const remote = theirs(server, "copy");
    const repo = await makeRepo();
    const source = await makeHistory();
    // A push mirror is about branches and tags.
    const push = (): Promise<string> =>
      git(source, [
        "push",
        "--quiet",
        "--prune",
        repo.ownUrl,
        "+refs/heads/*:refs/heads/*",
        "+refs/tags/*:refs/tags/*",
      ]);
    const mirrors = `${repo.path}/push_mirrors`;
    const { remote_name } = await callApi<PushMirrorRecord>(admin, "POST", mirrors, {
      remote_address: server.url("copy"),
      remote_username: USER,
      remote_password: PASSWORD,
      interval: "0",
      sync_on_commit: true,
    });
    const read = (): Promise<PushMirrorRecord> =>
      callApi(admin, "GET", `${mirrors}/${remote_name}`);
    const untilEqual = async (): Promise<void> => {
      const expected = await listRemote(repo.url);
      await expect.poll(() => listRemote(remote), PATIENCE).toEqual(expected);
    };

    await push();
    await untilEqual();
    await expectEqual(remote, repo.url);

    await commit(source, { "new.txt": "new\n" });
    await git(source, ["branch", "-D", "--quiet", "left"]);
    await git(source, ["branch", "--force", "right", "main~1"]);
    await push();
    await untilEqual();
    await expectEqual(remote, repo.url);

    const hook = join(server.directoryOf("copy"), "hooks", "pre-receive");
    writeFileSync(hook, "#!/bin/sh\necho not on a Friday >&2\nexit 1\n");
    chmodSync(hook, 0o755);
    const before = await listRemote(remote);
    await commit(source, { "refused.txt": "refused\n" });
    await push();
    await expect.poll(async () => (await read()).state, PATIENCE).toBe("failing");
    const { last_error } = await read();
    expect(last_error).toContain("refs/heads/main (pre-receive hook declined)");
    expect(await listRemote(remote)).toEqual(before);

    rmSync(hook);
    await callApi(admin, "POST", `${repo.path}/push_mirrors-sync`);
    await untilEqual();
    await expect.poll(async () => (await read()).state, PATIENCE).toBe("ok");
    await expectEqual(remote, repo.url);

    const answers = await readAll(
      mirrors,
      `${mirrors}/${remote_name}`,
      repo.path,
      `${repo.path}/events`,
      "/user/events",
    );
    expect(answers[3]).toContain("mirror.failed");
    await expectNoSecrets(answers);
  });

  it("pushes what several pushes in a row leave, within seconds of the last one", async () => {
    const server = await openServer();
    await server.create("busy");
    const repo = await makeRepo();
    const source = await makeWork();
    await callApi(admin, "POST", `${repo.path}/push_mirrors`, {
      remote_address: theirs(server, "busy"),
      interval: "0",
      sync_on_commit: true,
    });
    for (let at = 0; at < 8; at++) {
      await commit(source, { "counter.txt": `${at}\n` });
      await git(source, ["push", "--quiet", repo.ownUrl, "main"]);
    }
    const expected = await listRemote(repo.url);
    await expect.poll(() => listRemote(theirs(server, "busy")), PATIENCE).toEqual(expected);
  });
});
