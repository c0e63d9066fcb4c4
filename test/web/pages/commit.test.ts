import { describe, expect, it } from "vitest";

import { call, visit } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { makeSshKey } from "../../support/keys.ts";
import { make } from "../../support/make.ts";
import { storePush, storeRefs } from "../../support/push.ts";
import { makeSignedCommit } from "../../support/signed.ts";
import { logged, roundsWithOverlap } from "../../support/usage.ts";

const PEOPLE = { headers: { Accept: "text/html" } };

const read = async (path: string): Promise<string> => {
  const { status, body } = await visit("GET", path, PEOPLE);
  expect(status, path).toBe(200);
  return String(body);
};

describe("the page of a commit", () => {
  it("has a message with links to what it refers to, in two rounds", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const root = `/${repo.owner}/${repo.name}`;
    const json = { title: "A fault" };
    const issue = await call("POST", `/repos${root}/issues`, { as: owner, json });
    expect(issue.status).toBe(201);
    const history = new History();
    const first = history.commit({ files: { a: "1" } });
    const message = `Mend #1 <b>\n\nReverts ${first}, for @${owner.name}.\n  * indented\n`;
    const oid = history.commit({ files: { a: "2" }, parents: [first], message });
    await storePush(repo, "refs/heads/main", oid, history.build());
    const path = `${root}/commit/${oid}`;
    await read(path);
    const { answer, line } = await logged(() => visit("GET", path, PEOPLE));
    const page = String(answer.body);
    expect(page).toMatch(/<h2>Mend <a href="[^"]*\/issues\/1"[^>]*>#1<\/a> &lt;b&gt;<\/h2>/);
    expect(page).toContain(`<code>${first.slice(0, 10)}</code></a>, for <a href=`);
    expect(page).toContain(">@" + owner.name + "</a>.\n  * indented</pre>");
    expect(line.d1Rounds).toBeLessThanOrEqual(roundsWithOverlap(2));
  });

  it("names author and committer, parents and the note", async () => {
    const [author, committer] = [await make.user(), await make.user()];
    const repo = await make.repo(author);
    const history = new History();
    const sides = [history.commit({ files: { a: "1" } }), history.commit({ files: { b: "1" } })];
    const merge = history.commit({
      files: { a: "1", b: "1" },
      parents: sides,
      author: `A <${author.email}>`,
      committer: `C <${committer.email}>`,
    });
    const note = history.commit({ files: { [merge]: "Tests: <b>passed</b>\n" } });
    const heads = { "heads/main": merge, "notes/commits": note };
    const refs = Object.entries(heads).map(([name, oid]) => ({ ref: `refs/${name}`, oid }));
    await storeRefs(repo, refs, history.build());
    const page = await read(`/${repo.owner}/${repo.name}/commit/${merge}`);
    for (const oid of sides) expect(page).toContain(`commit/${oid}">${oid.slice(0, 10)}</a>`);
    expect(page).toContain(`<a class="author" href="/${author.name}">`);
    expect(page).toMatch(new RegExp(`committed by <a class="author" href="/${committer.name}">`));
    expect(page).toContain("Tests: &lt;b&gt;passed&lt;/b&gt;");
    const plain = await read(`/${repo.owner}/${repo.name}/commit/${sides[0]}`);
    expect(plain).toContain("no parent");
    expect(plain).not.toContain("Note");
    expect(plain).not.toMatch(/>(?:Unv|V)erified</);
  });

  it("shows whether it is signed by whom it names", async () => {
    const user = await make.user();
    const key = makeSshKey();
    const json = { title: "key", key: key.line };
    expect((await call("POST", "/user/keys", { as: user, json })).status).toBe(201);
    const committer = `Somebody <${user.email}>`;
    const pageOf = async (sign: ReturnType<typeof makeSshKey>["sign"]) => {
      const repo = await make.repo(user);
      const { oid, pack } = await makeSignedCommit({ committer, sign });
      await storePush(repo, "refs/heads/main", oid, pack);
      return read(`/${repo.owner}/${repo.name}/commit/${oid}`);
    };
    expect(await pageOf(key.sign)).toContain(`title="${user.name} / ${key.fingerprint}">Verified<`);
    expect(await pageOf(makeSshKey().sign)).toMatch(/title="[^"]+">Unverified</);
  });
});
