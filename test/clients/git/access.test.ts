import { gzipSync } from "node:zlib";

import { describe, expect, it } from "vitest";

import {
  admin,
  callApi,
  freshName,
  makeRepo,
  makeToken,
  makeUser,
  serviceUrl,
  urlAs,
} from "../support/forge.ts";
import { clone, commit, git, listRemote, makeDirectory, makeWork, tryGit } from "../support/git.ts";

const getInfoRefs = (url: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/info/refs?service=git-upload-pack`, { headers, redirect: "manual" });

describe("git over HTTP", () => {
  it("opens a private repository to a password and to a token in every form only", async () => {
    const owner = await makeUser();
    const stranger = await makeUser();
    const repo = await makeRepo(owner, { private: true });
    const token = await makeToken(owner, "read:repository");

    const closed = await getInfoRefs(repo.url);
    expect(closed.status).toBe(401);
    expect(closed.headers.get("www-authenticate")).toMatch(/^Basic /);
    expect((await tryGit(makeDirectory(), ["ls-remote", repo.url])).code).not.toBe(0);

    await git(makeDirectory(), ["ls-remote", repo.ownUrl]);
    await git(makeDirectory(), ["ls-remote", urlAs(repo.url, owner.name, token)]);
    await git(makeDirectory(), ["ls-remote", urlAs(repo.url, token, "x-oauth-basic")]);
    await git(makeDirectory(), ["ls-remote", urlAs(repo.url, "oauth2", token)]);
    expect((await getInfoRefs(repo.url, { Authorization: `Bearer ${token}` })).status).toBe(200);

    const other = urlAs(repo.url, stranger.name, stranger.password);
    expect((await tryGit(makeDirectory(), ["ls-remote", other])).output).toContain("not found");
    const wrong = urlAs(repo.url, owner.name, "wrong");
    expect((await tryGit(makeDirectory(), ["ls-remote", wrong])).code).not.toBe(0);
  });

  // A different response would reveal which private repositories exist.
  it("sends the same response for a missing repository as for a private one", async () => {
    const repo = await makeRepo(admin, { private: true });
    const answers = await Promise.all(
      [repo.url, `${serviceUrl}/${admin.name}/nothing.git`, `${serviceUrl}/nobody/nothing`].map(
        async (url) => {
          const answer = await getInfoRefs(url);
          return [answer.status, answer.headers.get("www-authenticate"), await answer.text()];
        },
      ),
    );
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  it("limits a token to its scopes, in every form of credentials", async () => {
    const owner = await makeUser();
    const repo = await makeRepo(owner);
    const work = await makeWork();
    await commit(work, { a: "1" });
    const reading = await makeToken(owner, "read:repository");
    const elsewhere = await makeToken(owner, "write:issue");
    for (const url of [urlAs(repo.url, owner.name, reading), urlAs(repo.url, reading, "")]) {
      await git(work, ["ls-remote", url]);
      expect((await tryGit(work, ["push", url, "main"])).output).toContain("403");
    }
    for (const Authorization of [`token ${elsewhere}`, `Basic ${btoa(`x:${elsewhere}`)}`]) {
      const answer = await getInfoRefs(repo.url, { Authorization });
      expect([answer.status, await answer.text()]).toEqual([403, "Forbidden\n"]);
    }
    const writing = await makeToken(owner, "write:repository");
    await git(work, ["push", "--quiet", urlAs(repo.url, owner.name, writing), "main"]);
  });

  it("allows readers to clone, but not to push", async () => {
    const reader = await makeUser();
    const repo = await makeRepo();
    const work = await makeWork();
    await commit(work, { a: "1" });
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
    const url = urlAs(repo.url, reader.name, reader.password);
    const copy = await clone(url);
    await commit(copy, { a: "2" });
    // A reader may begin a push, since it may open a pull request.
    expect((await tryGit(copy, ["push", url, "main"])).output).toContain(
      "! [remote rejected] main -> main (User permission denied for writing.)",
    );
    // The guard checks the service in the path, not the one in the query.
    const sent = await fetch(`${repo.url}/git-receive-pack?service=git-upload-pack`, {
      method: "POST",
      headers: { "Content-Type": "application/x-git-receive-pack-request" },
      body: "0000",
    });
    expect(sent.status).toBe(401);
    expect(await listRemote(repo.url)).toHaveLength(2);
  });

  it("keeps an archived repository readable and unchanged", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    await commit(work, { a: "1" });
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
    await callApi(admin, "PATCH", repo.path, { archived: true });
    await commit(work, { a: "2" });
    const refused = await tryGit(work, ["push", repo.ownUrl, "main"]);
    expect(refused.code).not.toBe(0);
    expect(refused.output).toContain("403");
    expect(await git(await clone(repo.url), ["rev-list", "--count", "HEAD"])).toBe("1");
  });

  it("redirects from a repository's former name to its current one", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    await commit(work, { a: "1" });
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
    const name = freshName("renamed");
    await callApi(admin, "PATCH", repo.path, { name });
    await clone(repo.url);
    expect((await getInfoRefs(repo.url)).headers.get("location")).toContain(
      `/${name}.git/info/refs?`,
    );
  });

  it("responds identically with and without .git, and to a compressed body", async () => {
    const repo = await makeRepo();
    const work = await makeWork();
    await commit(work, { a: "1" });
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
    await clone(repo.url.replace(/\.git$/, ""));
    const ask = (body: Uint8Array<ArrayBuffer>, headers: Record<string, string>) =>
      fetch(`${repo.url}/git-upload-pack`, {
        method: "POST",
        headers: {
          "Content-Type": "application/x-git-upload-pack-request",
          "Git-Protocol": "version=2",
          ...headers,
        },
        body,
      });
    const plain = Uint8Array.from(Buffer.from("0014command=ls-refs\n0000"));
    const zipped = Uint8Array.from(gzipSync(plain));
    const answer = await (await ask(plain, {})).text();
    expect(answer).toContain("refs/heads/main");
    expect(await (await ask(zipped, { "Content-Encoding": "gzip" })).text()).toBe(answer);
    // The size limit applies to the decompressed body.
    const bomb = Uint8Array.from(gzipSync(Buffer.alloc(40_000_000, "0")));
    expect((await ask(bomb, { "Content-Encoding": "gzip" })).status).toBe(413);
    expect((await ask(plain, { "Content-Encoding": "gzip" })).status).toBe(400);
  });

  it("asks clients of the dumb protocol to use the smart protocol", async () => {
    const repo = await makeRepo();
    for (const path of ["info/refs", "HEAD", "objects/info/packs"]) {
      const answer = await fetch(`${repo.url}/${path}`);
      expect([answer.status, await answer.text()]).toEqual([
        403,
        expect.stringContaining("smart HTTP"),
      ]);
    }
  });

  it("answers an empty probe, and refuses malformed requests", async () => {
    const repo = await makeRepo();
    const send = (body: string, type = "application/x-git-receive-pack-request") =>
      fetch(`${repo.url}/git-receive-pack`, {
        method: "POST",
        headers: {
          Authorization: `Basic ${btoa(`${admin.name}:${admin.password}`)}`,
          "Content-Type": type,
        },
        body,
      });
    expect((await send("0000")).status).toBe(200);
    expect((await send("zzzz")).status).toBe(400);
    expect((await send("00")).status).toBe(400);
    expect((await send("0000", "text/plain")).status).toBe(400);
    const line = `${"0".repeat(40)} ${"0".repeat(40)} refs/heads/x\0report-status`;
    expect(
      (await send(`${(line.length + 4).toString(16).padStart(4, "0")}${line}0000`)).status,
    ).toBe(400);
  });

  it("allows a deleted repository's name to be used again, without the old content", async () => {
    const owner = await makeUser();
    const repo = await makeRepo(owner);
    const work = await makeWork();
    await commit(work, { a: "1" });
    await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
    await callApi(owner, "DELETE", repo.path);
    expect((await getInfoRefs(repo.url)).status).toBe(401);
    await callApi(owner, "POST", "/user/repos", { name: repo.name });
    expect(await listRemote(repo.url)).toEqual([]);
  });
});
