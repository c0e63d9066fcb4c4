import { asc, eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { events, labels } from "../../../src/db/schema/index.ts";
import { findLabelTemplate } from "../../../src/domain/code/templates/label-templates.ts";
import { Browser } from "../../support/browser.ts";
import { call, visit } from "../../support/call.ts";
import { formTokenOf } from "../../support/credentials.ts";
import { db } from "../../support/db.ts";
import { attachLabel, makeIssue, makeLabel } from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";

const BAD = `"><script>alert(1)</script>`;
const ESCAPED = "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;";
const PEOPLE = { headers: { Accept: "text/html" } };

let owner: TestUser;
let browser: Browser;
let reader: Browser;
beforeAll(async () => {
  owner = await make.userWithPassword();
  browser = await Browser.signedIn(owner);
  reader = await Browser.signedIn(await make.userWithPassword());
});

const pathOf = ({ owner: name, name: repo }: TestRepo, rest = "") =>
  `/${name}/${repo}/labels${rest}`;

const labelsOf = ({ id }: TestRepo) =>
  db.select().from(labels).where(eq(labels.repoId, id)).orderBy(asc(labels.id));

const typesOf = async ({ id }: TestRepo) =>
  (
    await db
      .select({ type: events.type })
      .from(events)
      .where(eq(events.repoId, id))
      .orderBy(asc(events.id))
  ).map(({ type }) => type);

/** The names of the labels that a page lists, in its order, but for those of the sets below. */
const listed = (page: unknown): string[] =>
  Array.from(
    (String(page).split("Add a set of labels")[0] ?? "").matchAll(
      /class="label chip[^>]*><svg[^]*?<\/svg>([^]*?)(?: <span class="label|<div|<\/div)/g,
    ),
    ([, content = ""]) => content.replaceAll(/<[^>]*>/g, "").trim(),
  );

/** The text of a field of a page's form. */
const typedIn = (page: unknown, name: string): string | undefined =>
  new RegExp(`<input[^>]* name="${name}"[^>]* value="([^"]*)"`).exec(String(page))?.[1];

/** The token for all forms of a browser. */
async function tokenOf(by: Browser): Promise<string> {
  const { body } = await by.get("/user/settings/account");
  return formTokenOf(body);
}

const read = async (path: string): Promise<string> => {
  const { status, body } = await visit("GET", path, PEOPLE);
  expect(status, path).toBe(200);
  return String(body);
};

describe("the page of labels", () => {
  it("shows each with its color, its issues and what it is, in an order", async () => {
    const repo = await make.repo(owner);
    const bug = await makeLabel({ repo }, { name: "bug", color: "ee0701", description: "Broken" });
    await makeLabel({ repo }, { name: "prio/high", isExclusive: true });
    await makeLabel({ repo }, { name: "old", archivedAt: 5000 });
    for (const isClosed of [false, false, true])
      await attachLabel(await makeIssue(repo, { isClosed }), bug);

    const page = await read(pathOf(repo));
    expect(page).toContain("3 labels");
    expect(page).toMatch(/<circle[^>]*fill="#ee0701"/);
    expect(page).toContain(`href="/${repo.owner}/${repo.name}/issues?label=bug"`);
    expect(page).toMatch(/>bug<\/a>[^]*?Broken[^]*?2 open/);
    expect(page).toMatch(
      /<span class="scope">prio\/<\/span>high<\/a> <span class="label">Exclusive/,
    );
    expect(page).toMatch(/>old<span class="hidden"> \(archived\)[^]*?<span class="label">Archived/);

    const orderOf = async (sort: string) => listed(await read(pathOf(repo, `?sort=${sort}`)));
    const byName = ["bug", "old (archived)", "prio/high"];
    expect(await orderOf("alphabetically")).toEqual(byName);
    expect(await orderOf("reversealphabetically")).toEqual(byName.toReversed());
    expect(await orderOf("toString")).toEqual(byName);
    expect(await orderOf("mostissues")).toEqual(["bug", "prio/high", "old (archived)"]);
    expect((await orderOf("leastissues")).at(-1)).toBe("bug");
  });

  it("shows those of the organization after them", async () => {
    const org = await make.org([owner]);
    const repo = await make.repo(org);
    await makeLabel({ org }, { name: "shared" });
    expect(listed(await read(pathOf(repo)))).toEqual(["shared"]);
    await makeLabel({ repo }, { name: "zoo" });
    const page = String((await browser.get(pathOf(repo))).body);
    expect(listed(page)).toEqual(["zoo", "shared"]);
    // The form is where they belong.
    expect(page.match(/labels\/\d+\/edit/g)).toHaveLength(1);
  });

  it("has forms for those alone who may change labels", async () => {
    const repo = await make.repo(owner);
    await makeLabel({ repo });
    const forms = /labels\/(?:new|\d+\/edit|delete)/;
    expect(String((await browser.get(pathOf(repo))).body)).toMatch(forms);
    expect(String((await reader.get(pathOf(repo))).body)).not.toMatch(forms);
    expect(await read(pathOf(repo))).not.toMatch(forms);
    const archived = await make.repo(owner, { archivedAt: 1000 });
    expect(String((await browser.get(pathOf(archived))).body)).not.toMatch(forms);
  });

  it("escapes what people write", async () => {
    const repo = await make.repo(owner);
    const fields = { name: `${BAD}/${BAD}`, description: BAD, isExclusive: true };
    const { id } = await makeLabel({ repo }, fields);
    for (const path of [pathOf(repo), pathOf(repo, `/${id}/edit`)]) {
      const page = String((await browser.get(path)).body);
      expect(page).toContain(ESCAPED);
      expect(page).not.toContain("<script>alert");
    }
  });

  it("is there while issues or pull requests are on", async () => {
    const pulls = await make.repo(owner, { hasIssues: false });
    expect((await visit("GET", pathOf(pulls), PEOPLE)).status).toBe(200);
    const none = await make.repo(owner, { hasIssues: false, hasPullRequests: false });
    expect((await visit("GET", pathOf(none), PEOPLE)).status).toBe(404);
    expect((await reader.get(pathOf(none))).status).toBe(404);
  });
});

describe("the form of a new label", () => {
  it("creates it once, however often it is sent, also at once", async () => {
    const repo = await make.repo(owner);
    const fields = {
      name: " prio/high ",
      color: "#EE0701",
      description: " Soon ",
      exclusive: "on",
    };
    const sent = { ...fields, _csrf: await tokenOf(browser) };
    const send = () => browser.post(pathOf(repo, "/new"), sent);
    for (const { status, headers } of [await send(), ...(await Promise.all([send(), send()]))])
      expect([status, headers.get("Location")]).toEqual([303, pathOf(repo)]);
    expect(await labelsOf(repo)).toMatchObject([
      {
        name: "prio/high",
        color: "ee0701",
        description: "Soon",
        isExclusive: true,
        archivedAt: null,
      },
    ]);
    expect(await typesOf(repo)).toEqual(["label.created"]);
    // Another label may have the same name.
    await browser.submit(pathOf(repo, "/new"), { ...fields, hex: "abc", is_archived: "on" });
    const [, second] = await labelsOf(repo);
    expect(second).toMatchObject({ name: "prio/high", color: "aabbcc" });
    expect(second?.archivedAt).not.toBeNull();
  });

  it.each<[string, Record<string, string>, string, string]>([
    ["no name", { name: " " }, "Must not be empty.", "name-fault"],
    ["a long name", { name: "x".repeat(256) }, "Must have at most 255 characters.", "name-fault"],
    [
      "a name with a control character",
      { name: "a\0b" },
      "Must not contain control characters.",
      "name-fault",
    ],
    [
      "an exclusive one without a scope",
      { name: "scope/" },
      "Must have a scope before a slash, since the label is exclusive.",
      "name-fault",
    ],
    ["digits that are no color", { hex: "red" }, "Invalid color: red.", "hex-fault"],
    ["a color that is none", { color: "blue" }, "Invalid color: blue.", "hex-fault"],
    [
      "a long description",
      { description: "x".repeat(2049) },
      "Must have at most 2048 characters.",
      "description-fault",
    ],
  ])("keeps what was typed, and says what is wrong: %s", async (_, fields, message, id) => {
    const repo = await make.repo(owner);
    const sent = { name: BAD, color: "#123456", description: BAD, exclusive: "on", ...fields };
    const { status, body } = await browser.submit(pathOf(repo, "/new"), sent);
    expect(status).toBe(422);
    expect(body).toContain(`<p class="fault" id="${id}" role="alert">${message}</p>`);
    expect(body).toMatch(/name="exclusive"[^>]*checked/);
    for (const name of ["name", "description"] as const)
      expect(typedIn(body, name)).toBe(fields[name] ?? ESCAPED);
    expect(await labelsOf(repo)).toEqual([]);
    expect(await typesOf(repo)).toEqual([]);
  });
});

describe("the form of a label", () => {
  it("shows the label, and changes it", async () => {
    const repo = await make.repo(owner);
    const label = await makeLabel({ repo }, { name: "a/b", isExclusive: true, archivedAt: 5000 });
    const path = pathOf(repo, `/${label.id}/edit`);
    const { body } = await browser.get(path);
    expect(typedIn(body, "name")).toBe("a/b");
    expect(typedIn(body, "color")).toBe("#ee0701");
    expect(body).toMatch(/name="is_archived"[^>]*checked/);

    const fields = { name: "c", color: "#000000", description: "now" };
    const { status, headers } = await browser.submit(path, fields);
    expect([status, headers.get("Location")]).toEqual([303, pathOf(repo)]);
    expect(await labelsOf(repo)).toMatchObject([
      { name: "c", color: "000000", description: "now", isExclusive: false, archivedAt: null },
    ]);
    expect(await typesOf(repo)).toEqual(["label.edited"]);
  });

  it("is shown again with what was typed", async () => {
    const repo = await make.repo(owner);
    const label = await makeLabel({ repo });
    const path = pathOf(repo, `/${label.id}/edit`);
    const { status, body } = await browser.submit(path, { name: "c", hex: "no" });
    expect(status).toBe(422);
    expect(typedIn(body, "name")).toBe("c");
    expect(body).toContain("Invalid color: no");
    expect(await labelsOf(repo)).toEqual([label]);
  });
});

describe("a label", () => {
  it("is offered no more once it is archived, but stays where it is", async () => {
    const repo = await make.repo(owner);
    const label = await makeLabel({ repo });
    const [having, other] = [await makeIssue(repo), await makeIssue(repo)];
    await attachLabel(having, label);
    const isOffered = async (at: number | string) =>
      String((await browser.get(`/${repo.owner}/${repo.name}/issues/${at}`)).body).includes(
        `name="label-${label.id}"`,
      );
    const offers = async () => [
      await isOffered(having.number),
      await isOffered(other.number),
      await isOffered("new"),
    ];
    expect(await offers()).toEqual([true, true, true]);
    const fields = { name: label.name, color: "#000000", is_archived: "on" };
    await browser.submit(pathOf(repo, `/${label.id}/edit`), fields);
    expect(await offers()).toEqual([true, false, false]);
  });

  it("is deleted", async () => {
    const repo = await make.repo(owner);
    const label = await makeLabel({ repo });
    await attachLabel(await makeIssue(repo), label);
    const { status } = await browser.submit(pathOf(repo), {}, pathOf(repo, "/delete"));
    expect(status).toBe(303);
    expect(await labelsOf(repo)).toEqual([]);
    expect(await typesOf(repo)).toEqual(["label.deleted"]);
  });

  // SECURITY: each id is looked up together with its owner.
  it("of another owner is none", async () => {
    const [repo, other] = [await make.repo(owner), await make.repo(owner)];
    const org = await make.org([owner]);
    const kept = [await makeLabel({ repo: other }), await makeLabel({ org })];
    await makeLabel({ repo });
    const token = await tokenOf(browser);
    for (const { id } of kept) {
      const sent = { _csrf: token, id: String(id), name: "x", color: "#000000" };
      expect((await browser.get(pathOf(repo, `/${id}/edit`))).status).toBe(404);
      expect((await browser.post(pathOf(repo, `/${id}/edit`), sent)).status).toBe(404);
      expect((await browser.post(pathOf(repo, "/delete"), sent)).status).toBe(303);
      expect(await db.select().from(labels).where(eq(labels.id, id))).toHaveLength(1);
    }
    expect(await typesOf(repo)).toEqual([]);
    for (const id of ["0", "x", "1%20or%201"])
      expect((await browser.get(pathOf(repo, `/${id}/edit`))).status, id).toBe(404);
  });
});

describe("archived labels", () => {
  it("are hidden where that is chosen", async () => {
    const repo = await make.repo(owner);
    await makeLabel({ repo }, { name: "kept" });
    await makeLabel({ repo }, { name: "gone", archivedAt: 1000 });
    expect(listed(await read(pathOf(repo)))).toEqual(["gone (archived)", "kept"]);
    const page = await read(pathOf(repo, "?archived=hidden"));
    expect(listed(page)).toEqual(["kept"]);
    expect(page).toContain("1 label<");
    expect(page).toContain('name="archived" value="hidden" checked=""');
    await db.update(labels).set({ archivedAt: 1000 }).where(eq(labels.repoId, repo.id));
    const none = await read(pathOf(repo, "?archived=hidden"));
    expect(none).toContain("There are no labels here.");
    // The choice can be taken back.
    expect(none).toContain('name="archived"');
  });
});

describe("sets of labels", () => {
  /** The names of an owner's labels that are the same in lower case as another one's. */
  const twice = (made: readonly { name: string }[]): string[] => {
    const lower = made.map(({ name }) => name.toLowerCase());
    return lower.filter((name, at) => lower.indexOf(name) !== at);
  };

  it("give an owner their labels, once, however often they are sent", async () => {
    const repo = await make.repo(owner);
    expect(await read(pathOf(repo))).not.toContain("Add these labels");
    const template = findLabelTemplate("Advanced") ?? [];
    const { body } = await browser.get(pathOf(repo));
    expect(body).toMatch(/<details open=""><summary>Add a set of labels[^]*Add these labels/);
    const form = pathOf(repo, "/initialize");
    const token = await tokenOf(browser);
    const send = () => browser.post(form, { _csrf: token, template_name: "Advanced" });
    for (const { status } of [await send(), ...(await Promise.all([send(), send()]))])
      expect(status).toBe(303);
    const made = await labelsOf(repo);
    expect(
      made.map(({ name, color, description, isExclusive }) => ({
        name,
        color,
        description,
        exclusive: isExclusive,
      })),
    ).toEqual(template);
    expect(await typesOf(repo)).toEqual(template.map(() => "label.created"));
  });

  it("leave the labels that have a name of theirs as they are", async () => {
    const repo = await make.repo(owner);
    const [first = "", second = ""] = (findLabelTemplate("Default") ?? []).map(({ name }) => name);
    const own = await makeLabel({ repo }, { name: first.toUpperCase(), color: "123456" });
    await makeLabel({ repo }, { name: "of its own" });
    const form = pathOf(repo, "/initialize");
    expect((await browser.get(pathOf(repo))).body).toContain("<details><summary>Add a set");
    await browser.submit(pathOf(repo), { template_name: "Default" }, form);
    const made = await labelsOf(repo);
    expect(made).toContainEqual(own);
    expect(made.map(({ name }) => name)).toContain(second);
    expect(twice(made)).toEqual([]);
    const added = (findLabelTemplate("Default")?.length ?? 0) - 1;
    expect(made).toHaveLength(2 + added);
    expect(await typesOf(repo)).toHaveLength(added);
    await browser.submit(pathOf(repo), { template_name: "Advanced" }, form);
    expect(twice(await labelsOf(repo))).toEqual([]);
  });

  it("give a repository no label that its organization shares", async () => {
    const org = await make.org([owner]);
    const repo = await make.repo(org);
    const path = `/org/${org.name}/settings/labels`;
    for (let again = 0; again < 2; again++)
      await browser.submit(path, { template_name: "Default" }, `${path}/initialize`);
    const shared = await db.select().from(labels).where(eq(labels.orgId, org.id));
    expect(shared).toHaveLength(findLabelTemplate("Default")?.length ?? 0);
    const form = pathOf(repo, "/initialize");
    const { status } = await browser.submit(pathOf(repo), { template_name: "Default" }, form);
    expect(status).toBe(303);
    expect(await labelsOf(repo)).toEqual([]);
  });

  it("have a name", async () => {
    const repo = await make.repo(owner);
    const form = pathOf(repo, "/initialize");
    const { status, body } = await browser.submit(pathOf(repo), { template_name: BAD }, form);
    expect(status).toBe(422);
    expect(body).toContain("Template name must name a template of labels.");
    expect(await labelsOf(repo)).toEqual([]);
  });
});

describe("the forms of labels", () => {
  /** Sends each form by somebody who may not, and requires that nothing is written. */
  async function expectRefused(
    repo: TestRepo,
    by: Browser,
    status: number,
    fields: Record<string, string> = {},
    headers?: Record<string, string>,
  ) {
    const label = await makeLabel({ repo });
    const sent = {
      _csrf: await tokenOf(by),
      id: String(label.id),
      name: "x",
      color: "#000000",
      template_name: "Default",
      ...fields,
    };
    for (const form of ["/new", `/${label.id}/edit`, "/delete", "/initialize"]) {
      const answer = await by.post(pathOf(repo, form), sent, headers);
      expect(answer.status, form).toBe(status);
    }
    expect(await labelsOf(repo)).toEqual([label]);
    expect(await typesOf(repo)).toEqual([]);
  }

  it("are not for readers, nor for those whom the owner has blocked", async () => {
    await expectRefused(await make.repo(owner), reader, 404);
    const blocked = await make.userWithPassword();
    await call("PUT", `/user/blocks/${blocked.name}`, { as: owner });
    await expectRefused(await make.repo(owner), await Browser.signedIn(blocked), 404);
    expect((await reader.get(pathOf(await make.repo(owner), "/new"))).status).toBe(404);
  });

  it("lead those who are not signed in to the sign-in", async () => {
    const repo = await make.repo(owner);
    const label = await makeLabel({ repo });
    const stranger = new Browser(undefined, PEOPLE.headers);
    for (const form of ["/delete", "/initialize"]) {
      const sent = { id: String(label.id), template_name: "Default" };
      expect((await stranger.post(pathOf(repo, form), sent)).status).toBe(303);
    }
    expect(await labelsOf(repo)).toEqual([label]);
    const { headers } = await visit("GET", pathOf(repo, "/new"), PEOPLE);
    const back = encodeURIComponent(pathOf(repo, "/new"));
    expect(headers.get("Location")).toBe(`/user/login?redirect_to=${back}`);
  });

  it("show what was typed to those whose session has ended", async () => {
    const repo = await make.repo(owner);
    const label = await makeLabel({ repo });
    const stranger = new Browser(undefined, PEOPLE.headers);
    for (const form of ["/new", `/${label.id}/edit`]) {
      const sent = { name: BAD, color: "#000000", description: "a description" };
      const { status, body } = await stranger.post(pathOf(repo, form), sent);
      expect(status).toBe(403);
      expect(body).toContain(`>\n${ESCAPED}</textarea>`);
      expect(body).toContain(">\na description</textarea>");
    }
    expect(await labelsOf(repo)).toEqual([label]);
    expect(await typesOf(repo)).toEqual([]);
  });

  it("are not for archived repositories", async () => {
    await expectRefused(await make.repo(owner, { archivedAt: 1000 }), browser, 423);
  });

  it("are not for repositories without issues and pull requests", async () => {
    const fields = { hasIssues: false, hasPullRequests: false };
    const repo = await make.repo(owner, fields);
    const writer = await make.userWithPassword();
    await make.collaborator(repo, writer, 2);
    await expectRefused(repo, await Browser.signedIn(writer), 404);
    await expectRefused(await make.repo(owner, fields), browser, 404);
  });

  it("come from a page of this service", async () => {
    await expectRefused(await make.repo(owner), browser, 403, { _csrf: "x" });
    const elsewhere = { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" };
    await expectRefused(await make.repo(owner), browser, 403, {}, elsewhere);
  });

  it("are not larger than forms are", async () => {
    const large = { description: "x".repeat(256 * 1024) };
    await expectRefused(await make.repo(owner), browser, 413, large);
  });

  it("are for all who write to issues", async () => {
    const repo = await make.repo(owner);
    const writer = await make.userWithPassword();
    await make.collaborator(repo, writer, 2);
    const by = await Browser.signedIn(writer);
    await by.submit(pathOf(repo, "/new"), { name: "x", color: "#000000" });
    expect(await labelsOf(repo)).toMatchObject([{ name: "x" }]);
  });
});

describe("the labels of an organization", () => {
  const labelsIn = ({ id }: { id: number }) => db.select().from(labels).where(eq(labels.orgId, id));

  it("are changed by its owners, from its settings", async () => {
    const org = await make.org([owner]);
    const path = `/org/${org.name}/settings/labels`;
    expect((await browser.get(`/org/${org.name}/settings`)).body).toContain(`href="${path}"`);
    await browser.submit(path, { template_name: "Default" }, `${path}/initialize`);
    expect(await labelsIn(org)).toHaveLength(findLabelTemplate("Default")?.length ?? 0);
    await browser.submit(`${path}/new`, { name: "x", color: "#000000" });
    const made = (await labelsIn(org)).find(({ name }) => name === "x");
    expect(made).toMatchObject({ color: "000000", repoId: null });
    await browser.submit(`${path}/${made?.id}/edit`, { name: "y", color: "#000000" });
    expect(listed((await browser.get(path)).body)).toContain("y");
    await browser.submit(path, { id: String(made?.id) }, `${path}/delete`);
    expect(listed((await browser.get(path)).body)).not.toContain("y");
  });

  it("have no page for others", async () => {
    const org = await make.org([owner]);
    const label = await makeLabel({ org });
    const member = await make.userWithPassword();
    await make.member(org, await make.team(org), member);
    const path = `/org/${org.name}/settings/labels`;
    for (const by of [reader, await Browser.signedIn(member)]) {
      expect((await by.get(`/${org.name}`)).body).not.toContain(`/org/${org.name}/settings`);
      const token = await tokenOf(by);
      const sent = { _csrf: token, id: String(label.id), name: "x", color: "#000000" };
      expect((await by.get(path)).status).toBe(404);
      for (const form of ["/new", `/${label.id}/edit`, "/delete", "/initialize"])
        expect((await by.post(path + form, sent)).status).toBe(404);
    }
    expect((await visit("GET", path, PEOPLE)).status).toBe(303);
    expect(await labelsIn(org)).toEqual([label]);
  });
});
