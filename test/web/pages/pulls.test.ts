import { beforeAll, describe, expect, it } from "vitest";

import { Browser } from "../../support/browser.ts";
import { call, visit } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { makeLabel, makeMilestone } from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeRule } from "../../support/protections.ts";
import { refsOf, storeRefs } from "../../support/push.ts";

const PEOPLE = { headers: { Accept: "text/html" } };

let owner: TestUser;
let reader: TestUser;
let ownerBrowser: Browser;
let readerBrowser: Browser;
beforeAll(async () => {
  [owner, reader] = [await make.userWithPassword(), await make.userWithPassword()];
  [ownerBrowser, readerBrowser] = [await Browser.signedIn(owner), await Browser.signedIn(reader)];
});

const pathOf = ({ owner: name, name: repo }: TestRepo): string => `/${name}/${repo}`;

/** A repository with branches `main`, `topic` with one more commit, and `clash` with another. */
async function makeRepo() {
  const repo = await make.repo(owner);
  const history = new History();
  const base = history.commit({ files: { "a.txt": "one\n" } });
  const main = history.commit({ files: { "a.txt": "two\n" }, parents: [base] });
  const topic = history.commit({
    files: { "a.txt": "two\n", "b.txt": "new\n" },
    parents: [main],
    message: "Add <b>\n\nIts text.\n",
  });
  const clash = history.commit({ files: { "a.txt": "three\n" }, parents: [base] });
  const refs = Object.entries({ main, topic, clash }).map(([name, oid]) => ({
    ref: `refs/heads/${name}`,
    oid,
  }));
  await storeRefs(repo, refs, history.build());
  return { repo, path: pathOf(repo), main, topic, clash };
}

const read = async (at: string, browser = ownerBrowser): Promise<string> => {
  const { status, body } = await browser.get(at);
  expect(status, at).toBe(200);
  return String(body);
};

async function send(
  at: string,
  action: string,
  fields: Record<string, string> = {},
  browser = ownerBrowser,
) {
  const page = String((await browser.get("/notifications")).body);
  const [, token = ""] = /name="_csrf" value="([^"]*)"/.exec(page) ?? [];
  return browser.post(at, { _csrf: token, action, ...fields });
}

/** Opens a pull request by the page, and returns its path. */
async function open(
  path: string,
  head: string,
  fields: Record<string, string> = {},
  base = "main",
) {
  const { headers, status, body } = await ownerBrowser.submit(`${path}/compare/${base}...${head}`, {
    title: "A title",
    body: "",
    ...fields,
  });
  expect(status, String(body)).toBe(303);
  return headers.get("location") ?? "";
}

/** The commit of a branch; undefined where there is no such branch. */
const branchOf = async (repo: TestRepo, name: string) =>
  (await refsOf(repo)).find((ref) => ref.name === `refs/heads/${name}`)?.oid;

const pullAt = async (at: string) => (await call("GET", `/repos${at}`, { as: owner })).body;

describe("a new pull request", () => {
  it("is opened from a comparison, with the words of its only commit", async () => {
    const { path } = await makeRepo();
    const page = await read(`${path}/compare/main...topic`);
    expect(page).toContain('value="Add &lt;b&gt;"');
    expect(page).toContain("\nIts text.</textarea>");
    const at = await open(path, "topic", { title: "Mine", body: "**Why**", draft: "on" });
    expect(at).toBe(`${path}/pulls/1`);
    expect(await pullAt(at)).toMatchObject({
      title: "WIP: Mine",
      body: "**Why**",
      base: { ref: "main" },
      head: { ref: "topic" },
    });
    const taken = await read(`${path}/compare/main...topic`);
    expect(taken).toContain(`is open: <a href="${path}/pulls/1">#1</a>`);
    expect(taken).not.toContain("Open a pull request");
    const again = await send(`${path}/compare/main...topic`, "", { title: "Again" });
    expect(again.status).toBe(409);
    expect(String(again.body)).toContain('value="Again"');
    expect(String(again.body)).toContain(`<a href="${path}/pulls/1">#1</a>`);
    expect((await call("GET", `/repos${path}/pulls`, { as: owner })).body).toHaveLength(1);
  });

  it("keeps its text where it can't be opened any more", async () => {
    const { path } = await makeRepo();
    const fields = { title: "My title", body: "my text" };
    const expectRefused = async (head: string, status: number) => {
      const answer = await send(`${path}/compare/main...${head}`, "", fields);
      expect(answer.status, head).toBe(status);
      expect(String(answer.body)).toMatch(/My title<\/textarea>[^]*my text<\/textarea>/);
    };
    await expectRefused("gone", 404);
    await call("PATCH", `/repos${path}`, { as: owner, json: { archived: true } });
    await expectRefused("topic", 423);
    expect((await call("GET", `/repos${path}/pulls`, { as: owner })).body).toEqual([]);
  });

  it("is offered of a branch that the reader has pushed lately", async () => {
    const { path } = await makeRepo();
    const push = async (as: TestUser, to: string, branch: string) => {
      const json = { content: btoa(branch), message: "m", branch: "main", new_branch: branch };
      const answer = await call("POST", `/repos${to}/contents/p-${branch}.txt`, { as, json });
      expect(answer.status, String(answer.body)).toBe(201);
    };
    const offered = async (browser = ownerBrowser) => {
      const pages = [await read(path, browser), await read(`${path}/pulls`, browser)];
      const [home, list] = pages.map((page) =>
        [...page.matchAll(/You pushed <strong>([^<]*)</g)].map(([, name]) => name),
      );
      expect(list).toEqual(home);
      return home;
    };
    // The default branch was pushed with them.
    expect(await offered()).toEqual(["clash", "topic"]);
    await push(owner, path, "one");
    await push(owner, path, "t&wo");
    expect(await offered()).toEqual(["t&amp;wo", "one", "clash"]);
    expect(await read(path)).toContain(`href="${path}/compare/main...t%26wo"`);
    await open(path, "one");
    expect(await offered()).toEqual(["t&amp;wo", "clash", "topic"]);
    await call("DELETE", `/repos${path}/branches/t%26wo`, { as: owner });
    expect(await offered()).toEqual(["clash", "topic"]);
    const forked = await call("POST", `/repos${path}/forks`, { as: reader, json: { name: "h" } });
    expect(forked.status).toBe(202);
    await push(reader, `/${reader.name}/h`, "mine");
    expect(await offered(readerBrowser)).toEqual([`${reader.name}/h:mine`]);
    expect(await offered()).toEqual(["clash", "topic"]);
    await call("PATCH", `/repos${path}`, { as: owner, json: { archived: true } });
    expect(await offered(readerBrowser)).toEqual([]);
  });

  it("begins with the template of the repository", async () => {
    const { repo, path } = await makeRepo();
    const label = await makeLabel({ repo }, { name: "kind <b>" });
    const template = `---
name: Change
about: A change
title: "Do: "
labels: ["${label.name}", "none"]
assignees: ["${owner.name}"]
---
## Why </textarea>
`;
    for (const branch of ["main", "topic"]) {
      const answer = await call("POST", `/repos${path}/contents/.gitea/pull_request_template.md`, {
        as: owner,
        json: {
          content: btoa(branch === "main" ? template : "of the topic"),
          branch,
          message: "t",
        },
      });
      expect(answer.status).toBe(201);
    }
    const page = await read(`${path}/compare/main...topic`);
    expect(page).toContain('value="Do: "');
    expect(page).toContain("\n## Why &lt;/textarea&gt;");
    expect(page).not.toMatch(/<textarea[^>]*>[^<]*of the topic/);
    const isChecked = (name: string): boolean =>
      new RegExp(`<input type="checkbox" name="${name}" value="on" checked`).test(page);
    expect(isChecked(`label-${label.id}`)).toBe(true);
    expect(isChecked(`user-${owner.name}`)).toBe(true);
    const shown = await read(`${path}/compare/main...topic`, readerBrowser);
    expect(shown).toContain("## Why");
    expect(shown).not.toContain(`label-${label.id}`);
  });

  it("asks what the form of the base asks, and keeps the answers", async () => {
    const { path } = await makeRepo();
    const form = (more = "") => `title: "Do: "
body:
  - type: markdown
    attributes: { value: "**Read** this" }
  - type: textarea
    id: why
    attributes: { label: "Why </textarea>", value: "Since " }
    validations: { required: true }
  - type: checkboxes
    id: done
    attributes: { label: Done, options: [{ label: Tests, required: true }] }
${more}`;
    const at = `/repos${path}/contents/.github/pull_request_template.yml`;
    const json = { content: btoa(form()), branch: "main", message: "t" };
    const { body: stored } = await call("POST", at, { as: owner, json });
    // One that is no form is skipped.
    const broken = { ...json, content: btoa("body: 1") };
    await call("POST", `/repos${path}/contents/PULL_REQUEST_TEMPLATE.yaml`, {
      as: owner,
      json: broken,
    });
    const compared = `${path}/compare/main...topic`;
    const page = await read(compared);
    expect(page).toContain('value="Do: "');
    expect(page).toContain("<strong>Read</strong>");
    expect(page).toMatch(/name="form-field-why"[^>]*>\s*Since <\/textarea>/);
    expect(page).not.toContain('name="body"');
    const fields = { title: "A title", "form-field-why": "I must </textarea>" };
    const refused = await ownerBrowser.submit(compared, fields);
    expect(refused.status).toBe(422);
    expect(String(refused.body)).toContain("Must be ticked: Tests");
    expect(String(refused.body)).toContain("I must &lt;/textarea&gt;</textarea>");
    const answered = { ...fields, "form-field-done-0": "on" };

    const changed = form('  - { type: input, id: more, attributes: { label: "More" } }');
    const edit = { ...json, content: btoa(changed), sha: stored.content.sha };
    // The form of a template that is another one by now is shown as a text.
    const [, token = ""] = /name="_csrf" value="([^"]*)"/.exec(page) ?? [];
    const named = { ...answered, _csrf: token, template: "pull_request_template.yml" };
    const other = await ownerBrowser.post(compared, named);
    expect(other.status).toBe(409);
    expect(String(other.body)).toMatch(/name="body"[^>]*>\s*I must &lt;\/textarea&gt;/);
    expect((await call("GET", `/repos${path}/pulls`, { as: owner })).body).toEqual([]);

    await call("PUT", at, { as: owner, json: edit });
    const sent = await ownerBrowser.submit(compared, { ...answered, "form-field-more": "" });
    expect(sent.status).toBe(303);
    const [pull] = (await call("GET", `/repos${path}/pulls`, { as: owner })).body;
    expect(pull.body).toBe(
      "### Why </textarea>\n\nI must </textarea>\n\n### Done\n\n- [x] Tests\n\n### More\n\n_No response_\n",
    );
  });

  it("has what a writer chooses from its beginning, and nothing of that for others", async () => {
    const { repo, path } = await makeRepo();
    const [writer, other] = [await make.userWithPassword(), await make.user()];
    await make.collaborator(repo, writer, 2);
    await make.collaborator(repo, other, 1);
    const label = await makeLabel({ repo }, { name: "bug" });
    const milestone = await makeMilestone(repo, { title: "1.0" });
    const chosen = {
      [`label-${label.id}`]: "on",
      milestone: String(milestone.id),
      [`user-${writer.name}`]: "on",
      [`reviewer-${writer.name}`]: "on",
      "other-reviewer": other.name,
    };
    const page = await read(`${path}/compare/main...topic`);
    for (const name of Object.keys(chosen)) expect(page, name).toContain(`name="${name}"`);
    expect(page).not.toContain(`reviewer-${owner.name}`);
    const refused = await send(`${path}/compare/main...topic`, "", {
      title: "Chosen",
      ...chosen,
      "other-reviewer": "nobody-of-this-name",
    });
    expect(refused.status).toBe(404);
    expect((await call("GET", `/repos${path}/pulls`, { as: owner })).body).toEqual([]);
    const at = await open(path, "topic", chosen);
    expect(await pullAt(at)).toMatchObject({
      labels: [{ name: "bug" }],
      milestone: { title: "1.0" },
      assignees: [{ login: writer.name }],
      requested_reviewers: [{ login: writer.name }, { login: other.name }],
    });
    const forked = await call("POST", `/repos${path}/forks`, { as: reader, json: { name: "f" } });
    expect(forked.status).toBe(202);
    const sent = await send(
      `${path}/compare/main...${reader.name}/f:clash`,
      "",
      { title: "Of a reader", ...chosen, [`reviewer-${writer.name}`]: "", "other-reviewer": "" },
      readerBrowser,
    );
    const ofReader = await pullAt(sent.headers.get("location") ?? "");
    expect(ofReader).toMatchObject({ labels: [], milestone: null, assignees: [] });
  });

  it("comes from the fork that was compared, of two with the same owner", async () => {
    const { path } = await makeRepo();
    const forks = ["first", "second"];
    for (const name of forks) {
      const as = reader;
      const forked = await call("POST", `/repos${path}/forks`, { as, json: { name } });
      expect(forked.status, String(forked.body)).toBe(name === "first" ? 202 : 409);
    }
    // A fork of the fork belongs to the same network.
    const member = await make.userWithPassword();
    const org = await make.org([member]);
    for (const name of forks) {
      const json = { organization: org.name, name };
      const from = name === "first" ? path : `/${reader.name}/first`;
      const forked = await call("POST", `/repos${from}/forks`, { as: member, json });
      expect(forked.status, String(forked.body)).toBe(202);
      const added = await call("POST", `/repos/${org.name}/${name}/contents/new.txt`, {
        as: member,
        json: { content: btoa(name), message: `Of ${name}`, branch: "main", new_branch: "new" },
      });
      expect(added.status).toBe(201);
    }
    const browser = await Browser.signedIn(member);
    for (const [at, name] of forks.toReversed().entries()) {
      const comparison = `${path}/compare/main...${org.name}/${name}%3Anew`;
      const page = await read(comparison, browser);
      expect(page).toContain(`action="${comparison}"`);
      expect(page).toContain('name="allow_maintainer_edit" value="on"');
      const fields = { title: `From ${name}`, ...(at === 0 && { allow_maintainer_edit: "on" }) };
      const opened = await send(comparison, "", fields, browser);
      expect(opened.status, String(opened.body)).toBe(303);
      expect(await pullAt(opened.headers.get("location") ?? "")).toMatchObject({
        title: `From ${name}`,
        head: { ref: "new", repo: { full_name: `${org.name}/${name}` } },
        allow_maintainer_edit: at === 0,
      });
    }
    const none = `${path}/compare/main...${org.name}/third%3Anew`;
    expect((await send(none, "", { title: "None" }, browser)).status).toBe(404);
  });

  it("is explained to readers who may not push", async () => {
    const { path } = await makeRepo();
    const page = await read(`${path}/compare`, readerBrowser);
    expect(page).toContain("Propose a change without a fork");
    expect(page).toContain("git push origin HEAD:refs/for/main/my-change");
    expect(await read(`${path}/compare`)).not.toContain("refs/for");
  });

  it("is for readers who are signed in, of branches that differ", async () => {
    const { path, topic } = await makeRepo();
    const anonymous = await visit("GET", `${path}/compare/main...topic`, PEOPLE);
    expect(String(anonymous.body)).not.toContain("Open a pull request");
    for (const basehead of ["topic...main", `main...${topic}`, "main..topic"]) {
      expect(await read(`${path}/compare/${basehead}`), basehead).not.toContain(
        "Open a pull request",
      );
    }
    const form = { title: "Kept title", body: "Kept text" };
    const refused = await readerBrowser.submit(`${path}/compare/main...topic`, form);
    expect(refused.status).toBe(403);
    expect(String(refused.body)).toMatch(/value="Kept title"[^]*Kept text<\/textarea>/);
    const empty = await ownerBrowser.submit(`${path}/compare/main...topic`, { title: " " });
    expect(empty.status).toBe(422);
    expect(String(empty.body)).toContain("Must not be empty.");
    // SECURITY: the form leads nowhere else.
    const twice = await read(`/${path}/compare/main...topic`);
    expect(twice).toContain(`action="${path}/compare/main...topic"`);
    const expired = await new Browser().post(`${path}/compare/main...topic`, form);
    expect(String(expired.body)).toContain("Kept text</textarea>");
    expect((await call("GET", `/repos${path}/pulls?state=all`, { as: owner })).body).toEqual([]);
  });
});

describe("the pages of a pull request", () => {
  it("show its commits and its files", async () => {
    const { path, topic } = await makeRepo();
    const at = await open(path, "topic");
    const commits = await read(`${at}/commits`);
    expect(commits).toContain(topic.slice(0, 10));
    expect(commits).toContain("Add &lt;b&gt;");
    expect(commits).toMatch(/Files changed <span class="label">1</);
    const files = await read(`${at}/files`);
    expect(files).toContain("b.txt");
    expect(files).not.toContain("a.txt");
    expect(files).toContain(`href="${path}/src/commit/${topic}/b.txt"`);
    expect((await ownerBrowser.get(`${at}/files?files=none`)).status).toBe(404);
    for (const wrong of ["/pulls/99/files", "/pulls/99/commits", "/issues/1/files"]) {
      expect((await ownerBrowser.get(path + wrong)).status, wrong).toBe(404);
    }
  });

  it("review it", async () => {
    const { path, topic } = await makeRepo();
    const at = await open(path, "topic");
    expect(await read(`${at}/files`)).not.toContain('value="approved"');
    expect(await read(`${at}/files`, readerBrowser)).toContain('value="approved"');
    const head = { head: topic };
    const approved = await send(at, "review", { ...head, state: "approved" }, readerBrowser);
    expect(approved.status).toBe(303);
    expect(approved.headers.get("location")).toContain("#issuecomment-");
    const text = { ...head, state: "request_changes", body: "No **way**" };
    await send(at, "review", text, readerBrowser);
    const page = await read(at);
    expect(page).toContain("approved these changes");
    expect(page).toMatch(/requested changes[^]*No <strong>way<\/strong>/);
    for (const [fields, status] of [
      [{ ...head, state: "approved", body: "typed with care" }, 422],
      [{ ...head, state: "comment", body: undefined }, 422],
      [{ ...head, state: "dismissed", body: "typed with care" }, 422],
    ] as const) {
      const answer = await send(at, "review", { ...fields, body: fields.body ?? "" });
      expect(answer.status, JSON.stringify(fields)).toBe(status);
      expect(String(answer.body)).toContain(`${fields.body ?? ""}</textarea>`);
    }
    const { body } = await call("GET", `/repos${at}/reviews`, { as: owner });
    expect(body.map(({ state }: { state: string }) => state)).toEqual([
      "APPROVED",
      "REQUEST_CHANGES",
    ]);
  });

  it("merge it, and delete its branch", async () => {
    const { repo, path, topic } = await makeRepo();
    const at = await open(path, "topic");
    const page = await read(at);
    expect(page).toContain("It can be merged without conflicts.");
    expect(await read(at, readerBrowser)).not.toContain('value="merge"');
    const own = await pullAt(at);
    expect((await send(at, "delete-branch")).status).toBe(405);
    expect((await refsOf(repo)).map(({ name }) => name)).toContain("refs/heads/topic");
    const merge = { style: "squash", title: "In one", message: "With text", head: own.head.sha };
    expect((await send(at, "merge", merge, readerBrowser)).status).toBe(405);
    expect((await send(at, "merge", { ...merge, style: "none" })).status).toBe(422);
    const outdated = await send(at, "merge", { ...merge, head: own.base.sha });
    expect(outdated.status).toBe(409);
    expect(String(outdated.body)).toMatch(/value="In one"[^]*With text<\/textarea>/);
    expect((await pullAt(at)).merged).toBe(false);
    expect((await send(at, "merge", merge)).status).toBe(303);
    const merged = await pullAt(at);
    expect(merged.merged).toBe(true);
    const { body: commit } = await call("GET", `/repos${path}/git/commits/main`, { as: owner });
    expect(commit.commit.message).toMatch(/^In one\n\nWith text/);
    const after = await read(at);
    expect(after).toContain(`merged it as <a class="oid"`);
    expect(after).toContain("Delete branch topic");
    expect(after).toMatch(/<code>topic<\/code> by [^]*was merged into <code>main<\/code>/);
    const rule = { rule_name: "top*" };
    await call("POST", `/repos${path}/branch_protections`, { as: owner, json: rule });
    expect(await read(at)).not.toContain("Delete branch topic");
    await call("DELETE", `/repos${path}/branch_protections/top*`, { as: owner });
    expect((await send(at, "delete-branch", {}, readerBrowser)).status).toBe(403);
    await send(at, "delete-branch");
    const names = (await refsOf(repo)).map(({ name }) => name);
    expect(names).not.toContain("refs/heads/topic");
    const gone = await read(at);
    expect(gone).not.toContain("Delete branch topic");
    expect(gone).toContain("Restore branch topic");
    expect(await read(at, readerBrowser)).not.toContain("Restore branch topic");
    expect((await send(at, "restore-branch", {}, readerBrowser)).status).toBe(403);
    expect(await branchOf(repo, "topic")).toBeUndefined();
    expect((await send(at, "restore-branch")).status).toBe(303);
    expect(await branchOf(repo, "topic")).toBe(topic);
    expect(await read(at)).toContain("Delete branch topic");
    expect((await send(at, "restore-branch")).status).toBe(409);
  });

  // The head's own repository lacks the commits once it has collected them: the base has them.
  it("restore the branch of a fork, for who may write to that", async () => {
    const { repo, path } = await makeRepo();
    const forked = await call("POST", `/repos${path}/forks`, {
      as: reader,
      json: { name: "mine" },
    });
    expect(forked.status).toBe(202);
    const fork = `/${reader.name}/mine`;
    const created = await call("POST", `/repos${fork}/contents/c.txt`, {
      as: reader,
      json: { content: btoa("c"), message: "Add c", branch: "main", new_branch: "added" },
    });
    expect(created.status).toBe(201);
    const opened = await readerBrowser.submit(
      `${path}/compare/main...${reader.name}/mine%3Aadded`,
      {
        title: "From a fork",
        body: "",
      },
    );
    const at = opened.headers.get("location") ?? "";
    const { head } = await pullAt(at);
    expect((await send(at, "restore-branch", {}, readerBrowser)).status).toBe(405);
    expect((await send(at, "merge", { style: "merge", head: head.sha })).status).toBe(303);
    expect((await send(at, "delete-branch", {}, readerBrowser)).status).toBe(303);
    const shown = `/repos${fork}/branches/added`;
    expect((await call("GET", shown, { as: reader })).status).toBe(404);
    expect((await send(at, "restore-branch")).status).toBe(403);
    expect((await call("GET", shown, { as: reader })).status).toBe(404);
    expect((await send(at, "restore-branch", {}, readerBrowser)).status).toBe(303);
    expect((await call("GET", shown, { as: reader })).body.commit.id).toBe(head.sha);
    expect(await branchOf(repo, "added")).toBeUndefined();
  });

  it("revert it as a whole on a new branch, once", async () => {
    const { repo, path, main, topic } = await makeRepo();
    const second = await call("POST", `/repos${path}/contents/c.txt`, {
      as: owner,
      json: { content: btoa("c"), message: "Add c", branch: "topic" },
    });
    expect(second.status).toBe(201);
    const at = await open(path, "topic", { title: 'Add "files"' });
    expect((await send(at, "revert")).status).toBe(405);
    const { head } = await pullAt(at);
    expect((await send(at, "merge", { style: "rebase", head: head.sha })).status).toBe(303);
    expect(await branchOf(repo, "main")).not.toBe(topic);
    expect(await read(at, readerBrowser)).not.toContain("Revert on a new branch");
    expect((await send(at, "revert", {}, readerBrowser)).status).toBe(403);
    const name = "revert-1-topic";
    expect(await branchOf(repo, name)).toBeUndefined();

    const reverted = await send(at, "revert");
    expect(reverted.status, String(reverted.body)).toBe(303);
    const comparison = `${path}/compare/main...${name}`;
    expect(reverted.headers.get("location")).toBe(comparison);
    const oid = await branchOf(repo, name);
    const commitAt = async (ref: string) =>
      (await call("GET", `/repos${path}/git/commits/${ref}`, { as: owner })).body.commit;
    const merged = await branchOf(repo, "main");
    expect(await commitAt(name)).toMatchObject({
      message: `Revert "Add "files"" (#1)\n\nThis reverts commit ${merged}, reversing\nchanges made to ${main}.\n`,
      tree: { sha: (await commitAt(main)).tree.sha },
    });
    const page = await read(comparison);
    expect(page).toContain('value="Revert &quot;Add &quot;files&quot;&quot; (#1)"');
    expect(page).toContain(`This reverts commit ${merged}`);
    // Sent twice, it leads to the same branch.
    expect((await send(at, "revert")).headers.get("location")).toBe(comparison);
    expect(await branchOf(repo, name)).toBe(oid);
    const revert = await open(path, name, { title: "Back" });
    const { head: back } = await pullAt(revert);
    const merge = { style: "fast-forward-only", head: back.sha };
    expect((await send(revert, "merge", merge)).status).toBe(303);
    const again = await send(at, "revert");
    expect(again.status).toBe(409);
    expect(String(again.body)).toContain(`has everything of the branch ${name}: delete it first`);
    expect(await branchOf(repo, name)).toBe(oid);
    // The page offers no second revert, but leads to the first one.
    const after = await read(at);
    expect(after).toContain(`It is reverted by <a href="${revert}">#2</a>`);
    expect(after).not.toContain("Revert on a new branch");
  });

  it("do not revert what later commits changed", async () => {
    const { repo, path } = await makeRepo();
    const at = await open(path, "topic");
    const { head } = await pullAt(at);
    expect((await send(at, "merge", { style: "merge", head: head.sha })).status).toBe(303);
    const { body: file } = await call("GET", `/repos${path}/contents/b.txt`, { as: owner });
    const json = { content: btoa("other\n"), message: "Later", sha: file.sha };
    const later = await call("PUT", `/repos${path}/contents/b.txt`, { as: owner, json });
    expect(later.status).toBe(200);
    const refs = await refsOf(repo);
    const refused = await send(at, "revert");
    expect(refused.status).toBe(409);
    expect(String(refused.body)).toContain("merge conflicts in b.txt");
    expect(await refsOf(repo)).toEqual(refs);
  });

  it("list its checks one by one, with their links and those that are missing", async () => {
    const { repo, path, topic } = await makeRepo();
    const at = await open(path, "topic");
    await makeRule(repo, {
      name: "main",
      settings: { isStatusCheckEnabled: true, statusContexts: ["ci/*", "lint"] },
    });
    for (const json of [
      { state: "success", context: "docs", description: "All <fine>" },
      { state: "failure", context: "ci/build", target_url: "https://ci.example/7?a=1&b=2" },
    ]) {
      const answer = await call("POST", `/repos${path}/statuses/${topic}`, { as: owner, json });
      expect(answer.status).toBe(201);
    }
    const page = await read(at);
    expect(page).toMatch(
      /<a href="https:\/\/ci\.example\/7\?a=1&amp;b=2" rel="nofollow noopener">ci\/build<\/a>[^]*failure <span class="label">Required[^]*<strong>docs<\/strong> <span class="soft">All &lt;fine&gt;<\/span> success <\/li>/,
    );
    expect(page).toMatch(/<strong>lint<\/strong>[^]*has not been reported yet/);
  });

  it("show the place in a merge queue, which who queued it may leave", async () => {
    const { repo, path } = await makeRepo();
    const writer = await make.userWithPassword();
    await make.collaborator(repo, writer, 2);
    const writerBrowser = await Browser.signedIn(writer);
    await makeRule(repo, {
      name: "main",
      settings: { isMergeQueueEnabled: true, isStatusCheckEnabled: true, statusContexts: ["ci"] },
    });
    const at = await open(path, "topic");
    const page = await read(at);
    expect(page).toContain("Add to the merge queue");
    expect(page).toMatch(/As an administrator, merge at once past the merge queue/);
    expect(await read(at, writerBrowser)).not.toContain("As an administrator");
    const { head } = await pullAt(at);
    expect((await send(at, "merge", { style: "merge", head: head.sha })).status).toBe(303);
    const queued = await read(at);
    expect(queued).toContain("It is number 1 in the merge queue of main, queued by ");
    expect(queued).toContain("Take out of the queue");
    const others = await read(at, writerBrowser);
    expect(others).not.toContain("Take out of the queue</button>");
    expect(others).toContain(`${owner.name} and administrators of the repository can take it out`);
    expect((await send(at, "dequeue", {}, writerBrowser)).status).toBe(403);
    expect(await read(at)).toContain("It is number 1 in the merge queue");
    expect((await send(at, "dequeue")).status).toBe(303);
    expect(await read(at)).not.toContain("It is number 1 in the merge queue");
  });

  it("name what is missing one by one", async () => {
    const { repo, path } = await makeRepo();
    const at = await open(path, "clash", { draft: "on" });
    const page = await read(at);
    expect(page).toContain("It is a draft.");
    expect(page).toMatch(/It has conflicts with the base\.[^]*<code>a\.txt<\/code>/);
    expect(page).toMatch(/git switch clash\ngit pull --no-rebase \S+\.git main\n/);
    expect(page).toContain("It is 1 commit behind main.");
    await makeRule(repo, {
      name: "main",
      settings: { requiredApprovals: 1, isStatusCheckEnabled: true },
    });
    const ruled = await read(at);
    expect(ruled).toContain("It needs 1 more approval.");
    expect(ruled).toContain("Not all required status checks successful.");
    const refused = await send(at, "merge", { style: "merge" });
    expect(refused.status).toBe(405);
    expect(String(refused.body)).toContain("A draft can&#39;t be merged.");
    await send(at, "title", { title: "A title" });
    expect(await read(at)).not.toContain("It is a draft.");
    const clash = await send(at, "merge", { style: "merge" });
    expect(String(clash.body)).toContain("Merge conflicts in a.txt");
    expect((await pullAt(at)).merged).toBe(false);
  });

  it("offer no merge that the rules refuse, and name who reviewed", async () => {
    const { repo, path } = await makeRepo();
    const at = await open(path, "topic");
    const merge = /<button type="submit" class="primary">Merge<\/button>/;
    expect(await read(at)).toMatch(merge);
    const settings = { requiredApprovals: 2, blockAdminMergeOverride: true };
    await makeRule(repo, { name: "main", settings });
    const ruled = await read(at);
    expect(ruled).toContain("It needs 2 more approvals.");
    expect(ruled).not.toMatch(merge);
    expect(ruled).toContain("Merge when nothing is missing");
    const number = at.split("/").at(-1);
    await make.collaborator(repo, reader, 2);
    await call("POST", `/repos${path}/pulls/${number}/reviews`, {
      as: reader,
      json: { event: "APPROVED" },
    });
    const reviewed = await read(at);
    expect(reviewed).toContain("It needs 1 more approval.");
    expect(reviewed).toMatch(new RegExp(`Participants[^]*href="/${reader.name}"`));
  });

  it("bring it up to date, and merge it later", async () => {
    const { repo, path } = await makeRepo();
    const at = await open(path, "topic");
    await makeRule(repo, { name: "main", settings: { isStatusCheckEnabled: true } });
    const later = { style: "merge", when: "ready" };
    expect((await send(at, "merge", later)).status).toBe(303);
    expect(await read(at)).toContain("It is merged as soon as nothing is missing.");
    expect((await send(at, "cancel-merge")).status).toBe(303);
    expect(await read(at)).not.toContain("as soon as nothing is missing.");
    expect((await send(at, "cancel-merge")).status).toBe(404);
    const moved = await call("POST", `/repos${path}/contents/c.txt`, {
      as: owner,
      json: { content: btoa("c"), message: "Move the base", branch: "clash" },
    });
    expect(moved.status).toBe(201);
    const behind = await open(path, "topic", {}, "clash");
    expect(await read(behind)).toContain("Update by rebase");
    expect((await send(behind, "update", { style: "merge" }, readerBrowser)).status).toBe(403);
  });
});
