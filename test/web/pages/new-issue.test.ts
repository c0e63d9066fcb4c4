import { beforeAll, describe, expect, it } from "vitest";

import { Browser } from "../../support/browser.ts";
import { call, visit } from "../../support/call.ts";
import { makeFiles } from "../../support/files.ts";
import { makeLabel, makeMilestone } from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { storeRefs } from "../../support/push.ts";

const BUG = `name: Bug
description: Something <is> broken
title: "Bug: "
labels: [bug, unknown]
body:
  - type: markdown
    attributes: {value: "Thanks for **reporting**."}
  - type: input
    id: version
    attributes: {label: Version, description: "By \`--version\`"}
    validations: {required: true, regex: "^[0-9.]+$"}
  - type: input
    id: count
    attributes: {label: Count}
    validations: {is_number: true}
  - type: dropdown
    id: os
    attributes: {label: System, options: [Linux, macOS, Windows]}
  - type: dropdown
    id: several
    attributes: {label: Several, multiple: true, list: true, options: [one, two, three]}
  - type: textarea
    id: logs
    attributes: {label: Logs, render: shell, value: "preset"}
  - type: checkboxes
    id: terms
    attributes: {label: Terms, options: [{label: I searched, required: true}, {label: I help}]}
`;
const IDEA = `---
name: Idea
about: Something new
title: "Idea: "
labels: bug
---
## What
`;
const CONFIG = `blank_issues_enabled: false
contact_links:
  - {name: Chat, url: "https://chat.example/?a=1&b=2", about: Ask <there>}
`;

const FOLDER = ".gitea/ISSUE_TEMPLATE";
const queryOf = (file: string) => `template=${encodeURIComponent(`${FOLDER}/${file}`)}`;

let owner: TestUser;
let reader: TestUser;
let repo: TestRepo;
let path: string;
let ownerBrowser: Browser;
let readerBrowser: Browser;
beforeAll(async () => {
  [owner, reader] = [await make.userWithPassword(), await make.userWithPassword()];
  [ownerBrowser, readerBrowser] = [await Browser.signedIn(owner), await Browser.signedIn(reader)];
  repo = await make.repo(owner);
  path = `/${owner.name}/${repo.name}`;
  await makeLabel({ repo }, { name: "bug" });
  const files = { "bug.yml": BUG, "idea.md": IDEA, "config.yml": CONFIG };
  const { oid, pack } = makeFiles(
    Object.fromEntries(Object.entries(files).map(([name, text]) => [`${FOLDER}/${name}`, text])),
  );
  await storeRefs(repo, [{ ref: "refs/heads/main", oid }], pack);
});

const issuesOf = async ({ name }: TestRepo) =>
  (await call("GET", `/repos/${owner.name}/${name}/issues?state=all`, { as: owner })).body;

describe("a new issue", () => {
  it("is opened with what a writer gives it", async () => {
    const own = await make.repo(owner);
    const at = `/${owner.name}/${own.name}/issues/new`;
    const label = await makeLabel({ repo: own });
    const milestone = await makeMilestone(own);
    const page = String((await ownerBrowser.get(`${at}?title=T&body=B`)).body);
    expect(page).toContain('value="T"');
    expect(page).toContain("\nB</textarea>");
    const sent = await ownerBrowser.submit(at, {
      title: "A title",
      body: "A text",
      [`label-${label.id}`]: "on",
      milestone: String(milestone.id),
      [`user-${owner.name}`]: "on",
      other: "",
    });
    expect([sent.status, sent.headers.get("location")]).toEqual([
      303,
      `/${owner.name}/${own.name}/issues/1`,
    ]);
    expect(await issuesOf(own)).toMatchObject([
      {
        title: "A title",
        body: "A text",
        user: { login: owner.name },
        labels: [{ id: label.id }],
        milestone: { id: milestone.id },
        assignees: [{ login: owner.name }],
      },
    ]);
  });

  it("is opened once, however often its form is sent", async () => {
    const own = await make.repo(owner);
    const at = `/${owner.name}/${own.name}/issues/new`;
    const page = String((await readerBrowser.get(at)).body);
    const [, token = ""] = /name="_csrf" value="([^"]*)"/.exec(page) ?? [];
    const [, opened_at = ""] = /name="opened_at" value="([^"]*)"/.exec(page) ?? [];
    const form = { _csrf: token, opened_at, title: "Again", body: "text" };
    const answers = await Promise.all([readerBrowser.post(at, form), readerBrowser.post(at, form)]);
    const places = [...answers, await readerBrowser.post(at, form)].map(({ headers }) =>
      headers.get("location"),
    );
    expect(new Set(places)).toEqual(new Set([`/${owner.name}/${own.name}/issues/1`]));
    expect(await issuesOf(own)).toHaveLength(1);
    await readerBrowser.post(at, { ...form, body: "another text" });
    expect(await issuesOf(own)).toHaveLength(2);
  });

  it("gives nothing that its author may not give", async () => {
    const own = await make.repo(owner);
    const at = `/${owner.name}/${own.name}/issues/new`;
    const label = await makeLabel({ repo: own });
    const { status } = await readerBrowser.submit(at, {
      title: "By a reader",
      body: "",
      [`label-${label.id}`]: "on",
      other: owner.name,
    });
    expect(status).toBe(303);
    expect(await issuesOf(own)).toMatchObject([{ labels: [], assignees: [] }]);
    expect(String((await readerBrowser.get(at)).body)).not.toContain(`label-${label.id}`);
  });

  it("is refused in words beside the field, with what was typed", async () => {
    const own = await make.repo(owner);
    const at = `/${owner.name}/${own.name}/issues/new`;
    const long = "x".repeat(262_145);
    for (const [fields, status, reason] of [
      [{ title: " ", body: "kept text" }, 422, "Must not be empty."],
      [{ title: "x".repeat(256), body: "kept text" }, 422, "Must have at most 255"],
      [{ title: "t", body: long }, 422, "Must have at most 262144 characters."],
      [{ title: "t", body: "kept text", other: "nobody-here" }, 422, "Assignee does not exist"],
    ] as const) {
      const answer = await ownerBrowser.submit(at, fields);
      expect(answer.status, reason).toBe(status);
      expect(String(answer.body)).toMatch(new RegExp(`class="fault"[^>]*>${reason}`));
      expect(String(answer.body)).toContain(fields.body);
    }
    expect(await issuesOf(own)).toEqual([]);
  });

  it("needs a session, a repository with issues, and one that is not archived", async () => {
    const hidden = await make.repo(owner, { isPrivate: true });
    for (const name of [hidden.name, "none", repo.name]) {
      const at = `/${owner.name}/${name}/issues/new`;
      const { status, headers } = await visit("GET", at, { headers: { Accept: "text/html" } });
      expect([status, headers.get("location")]).toEqual([
        303,
        `/user/login?redirect_to=${encodeURIComponent(at)}`,
      ]);
    }
    expect((await readerBrowser.get(`/${owner.name}/${hidden.name}/issues/new`)).status).toBe(404);
    const own = await make.repo(owner);
    const at = `/${owner.name}/${own.name}/issues/new`;
    await call("PATCH", `/repos/${owner.name}/${own.name}`, {
      as: owner,
      json: { archived: true },
    });
    const refused = await readerBrowser.submit(at, { title: "T", body: "kept text" });
    expect(refused.status).toBe(423);
    expect(String(refused.body)).toContain("kept text</textarea>");
    await call("PATCH", `/repos/${owner.name}/${own.name}`, {
      as: owner,
      json: { archived: false, has_issues: false },
    });
    expect((await ownerBrowser.get(at)).status).toBe(404);
    expect(await issuesOf(own)).toEqual([]);
  });
});

describe("templates", () => {
  it("are chosen, with links to elsewhere; an issue without one is refused", async () => {
    const at = `${path}/issues/new`;
    const without = await readerBrowser.get(`${at}?title=T`);
    expect([without.status, without.headers.get("location")]).toEqual([
      303,
      `${at}/choose?title=T`,
    ]);
    const page = String((await readerBrowser.get(`${at}/choose?title=T`)).body);
    expect(page).toMatch(/title=T&amp;template=\.gitea%2FISSUE_TEMPLATE%2Fbug\.yml[^]*>Bug<\/a>/);
    expect(page).toContain("Something &lt;is&gt; broken");
    expect(page).toContain('href="https://chat.example/?a=1&amp;b=2"');
    expect(page).not.toContain("without a template");
    const form = String((await readerBrowser.get(`${at}?${queryOf("idea.md")}`)).body);
    const [, token = ""] = /name="_csrf" value="([^"]*)"/.exec(form) ?? [];
    for (const template of ["", "no/such.md"]) {
      const refused = await readerBrowser.post(at, {
        _csrf: token,
        template,
        title: "t",
        body: "",
      });
      expect(refused.status).toBe(422);
      expect(String(refused.body)).toContain("needs one of its templates");
    }
    expect(await issuesOf(repo)).toEqual([]);
    // Without templates there is nothing to choose.
    const own = await make.repo(owner);
    const none = await readerBrowser.get(`/${owner.name}/${own.name}/issues/new/choose?title=T`);
    expect(none.headers.get("location")).toBe(`/${owner.name}/${own.name}/issues/new?title=T`);
  });

  it("of text begin the issue, which has their labels for readers too", async () => {
    const at = `${path}/issues/new?${queryOf("idea.md")}`;
    const page = String((await readerBrowser.get(at)).body);
    expect(page).toContain('value="Idea: "');
    expect(page).toContain("\n## What\n</textarea>");
    expect(String((await readerBrowser.get(`${at}&title=Mine&body=Own`)).body)).toMatch(
      /value="Mine"[^]*\nOwn<\/textarea>/,
    );
    const { status } = await readerBrowser.submit(
      at,
      { title: "Idea: a", body: "## What\nThat" },
      `${path}/issues/new`,
    );
    expect(status).toBe(303);
    const [issue] = await issuesOf(repo);
    expect(issue).toMatchObject({ title: "Idea: a", labels: [{ name: "bug" }] });
  });

  it("of fields are filled in, and make the text", async () => {
    const at = `${path}/issues/new?${queryOf("bug.yml")}`;
    const page = String((await readerBrowser.get(`${at}&field:version=9.9`)).body);
    expect(page).toContain("Thanks for <strong>reporting</strong>.");
    expect(page).toContain("By <code>--version</code>");
    expect(page).toContain('value="9.9"');
    expect(page).toContain("\npreset</textarea>");
    const { status } = await readerBrowser.submit(
      at,
      {
        title: "Bug: it",
        "form-field-version": " 1.2 ",
        "form-field-os": "1",
        "form-field-several-0": "on",
        "form-field-several-2": "on",
        "form-field-logs": "a\r\n```\r\nb",
        "form-field-terms-0": "on",
      },
      `${path}/issues/new`,
    );
    expect(status).toBe(303);
    const [issue] = await issuesOf(repo);
    expect(issue.body).toBe(
      [
        "### Version\n\n1.2\n",
        "### Count\n\n_No response_\n",
        "### System\n\nmacOS\n",
        "### Several\n\n- one\n- three\n",
        "### Logs\n\n````shell\na\n```\nb\n````\n",
        "### Terms\n\n- [x] I searched\n- [ ] I help\n",
      ].join("\n"),
    );
    expect(issue.labels).toMatchObject([{ name: "bug" }]);
  });

  it("say beside each field what is wrong, and keep what was typed", async () => {
    const at = `${path}/issues/new?${queryOf("bug.yml")}`;
    const right = { "form-field-version": "1.2", "form-field-terms-0": "on" };
    const before = (await issuesOf(repo)).length;
    for (const [wrong, reason] of [
      [{ "form-field-version": "" }, "Must not be empty."],
      [{ "form-field-version": "one" }, "Must match"],
      [{ "form-field-count": "many" }, "Must be a number."],
      [{ "form-field-terms-0": undefined }, "Must be ticked: I searched."],
    ] as const) {
      const fields: Record<string, string> = { title: "Bug: kept", "form-field-logs": "kept logs" };
      for (const [name, value] of Object.entries({ ...right, ...wrong })) {
        if (value !== undefined) fields[name] = value;
      }
      const answer = await readerBrowser.submit(at, fields, `${path}/issues/new`);
      expect(answer.status, reason).toBe(422);
      expect(String(answer.body)).toContain(reason);
      expect(String(answer.body)).toContain("kept logs</textarea>");
      expect(String(answer.body)).toContain('value="Bug: kept"');
    }
    const former = await new Browser().post(`${path}/issues/new`, {
      template: ".gitea/ISSUE_TEMPLATE/bug.yml",
      "form-field-logs": "kept logs",
    });
    expect(String(former.body)).toContain("kept logs</textarea>");
    expect(await issuesOf(repo)).toHaveLength(before);
  });
});
