import { asc, eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { events, milestones } from "../../../src/db/schema/index.ts";
import { Browser } from "../../support/browser.ts";
import { call, visit } from "../../support/call.ts";
import { formTokenOf } from "../../support/credentials.ts";
import { db } from "../../support/db.ts";
import { makeIssue, makeMilestone } from "../../support/issues.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makePull } from "../../support/pulls.ts";

const BAD = `"><script>alert(1)</script>`;
const ESCAPED = "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;";
const PEOPLE = { headers: { Accept: "text/html" } };
const DAY_MS = 86_400_000;

let owner: TestUser;
let browser: Browser;
let reader: Browser;
beforeAll(async () => {
  owner = await make.userWithPassword();
  browser = await Browser.signedIn(owner);
  reader = await Browser.signedIn(await make.userWithPassword());
});

const pathOf = ({ owner: name, name: repo }: TestRepo, rest = "") =>
  `/${name}/${repo}/milestones${rest}`;

const milestonesOf = ({ id }: TestRepo) =>
  db.select().from(milestones).where(eq(milestones.repoId, id)).orderBy(asc(milestones.id));

const typesOf = async ({ id }: TestRepo) =>
  (
    await db
      .select({ type: events.type })
      .from(events)
      .where(eq(events.repoId, id))
      .orderBy(asc(events.id))
  ).map(({ type }) => type);

/** The titles that a page lists, in its order. */
const listed = (page: unknown): string[] =>
  Array.from(
    String(page).matchAll(/<h3><a href="[^"]*\/milestone\/\d+">([^<]*)</g),
    ([, title = ""]) => title,
  );

const read = async (path: string): Promise<string> => {
  const { status, body } = await visit("GET", path, PEOPLE);
  expect(status, path).toBe(200);
  return String(body);
};

/** Gives a milestone issues, of which some are closed. */
async function addIssues(repo: TestRepo, milestoneId: number, open: number, closed: number) {
  for (let at = 0; at < open + closed; at++)
    await makeIssue(repo, { milestoneId, isClosed: at < closed });
}

describe("the text of a milestone", () => {
  // A stray item would end the item of the page's list.
  it("stands in a section of its own", async () => {
    const repo = await make.repo(owner);
    await makeMilestone(repo, { description: "<li>stray</li>" });
    const { body } = await visit("GET", `/${owner.name}/${repo.name}/milestones`, {
      headers: { Accept: "text/html" },
    });
    expect(String(body)).toMatch(/<section class="markup"><li[^>]*>stray<\/li>\s*<\/section>/);
  });
});

describe("the page of milestones", () => {
  it("shows how far each is, what it is about and when it is due", async () => {
    const repo = await make.repo(owner);
    const due = Date.UTC(2020, 11, 31, 23, 59, 59);
    const fields = { title: "1.0", description: "**First**", deadlineAt: due };
    const { id } = await makeMilestone(repo, fields);
    await addIssues(repo, id, 2, 1);
    const page = await read(pathOf(repo));
    expect(page).toContain(`<a href="/${repo.owner}/${repo.name}/milestone/${id}">1.0</a>`);
    expect(page).toMatch(/<progress max="100" value="33"/);
    expect(page).toMatch(/33% complete[^]*2 open, 1 closed[^]*Due on 2020-12-31[^]*>Overdue</);
    expect(page).toContain("<strong>First</strong>");
  });

  it("lists open or closed ones, and counts both", async () => {
    const repo = await make.repo(owner);
    await makeMilestone(repo, { title: "open one" });
    const late = { isClosed: true, closedAt: 5000, deadlineAt: 1000 };
    await makeMilestone(repo, { title: "closed one", ...late });
    await makeMilestone(repo, { title: "closed two", ...late });
    expect(listed(await read(pathOf(repo)))).toEqual(["open one"]);
    expect(listed(await read(pathOf(repo, "?state=all")))).toEqual(["open one"]);
    const page = await read(pathOf(repo, "?state=closed&sort=id&page=1"));
    expect(listed(page)).toEqual(["closed one", "closed two"]);
    expect(page).toContain(`href="?sort=id&amp;state=open">Open 1</a>`);
    expect(page).toContain(`aria-current="page">Closed 2</a>`);
    expect(page).not.toContain("Overdue");
    const found = await read(pathOf(repo, "?state=closed&q=%20TWO%20"));
    expect(listed(found)).toEqual(["closed two"]);
    expect(found).toContain("Open 0</a>");
    expect(await read(pathOf(repo, "?q=none"))).toContain("There are no open milestones here.");
  });

  it("has the orders of Gitea's addresses", async () => {
    const repo = await make.repo(owner);
    const b = await makeMilestone(repo, { title: "b", deadlineAt: 3 * DAY_MS });
    const c = await makeMilestone(repo, { title: "c", deadlineAt: DAY_MS });
    const a = await makeMilestone(repo, { title: "a", deadlineAt: 2 * DAY_MS });
    await addIssues(repo, a.id, 1, 0);
    await addIssues(repo, b.id, 2, 1);
    await addIssues(repo, c.id, 1, 1);
    const orderOf = async (sort: string) =>
      listed(await read(pathOf(repo, `?sort=${sort}`))).join("");
    expect(await orderOf("closestduedate")).toBe("cab");
    expect(await orderOf("toString")).toBe("cab");
    expect(await orderOf("furthestduedate")).toBe("bac");
    expect(await orderOf("leastcomplete")).toBe("abc");
    expect(await orderOf("mostcomplete")).toBe("cba");
    expect(await orderOf("leastissues")).toBe("acb");
    expect(await orderOf("mostissues")).toBe("bca");
    expect(await orderOf("name")).toBe("abc");
    expect(await orderOf("id")).toBe("bca");
  });

  it("has forms for those alone who may change milestones", async () => {
    const repo = await make.repo(owner);
    const { id } = await makeMilestone(repo);
    const forms = /milestones\/(?:new|delete|\d+\/)/;
    const single = `/${repo.owner}/${repo.name}/milestone/${id}`;
    for (const path of [pathOf(repo), single]) {
      expect(String((await browser.get(path)).body)).toMatch(forms);
      expect(String((await reader.get(path)).body)).not.toMatch(forms);
      expect(await read(path)).not.toMatch(forms);
    }
    const archived = await make.repo(owner, { archivedAt: 1000 });
    await makeMilestone(archived);
    expect(String((await browser.get(pathOf(archived))).body)).not.toMatch(forms);
  });

  it("is there while issues or pull requests are on", async () => {
    const pulls = await make.repo(owner, { hasIssues: false });
    await read(pathOf(pulls));
    const none = await make.repo(owner, { hasIssues: false, hasPullRequests: false });
    const { id } = await makeMilestone(none);
    expect((await visit("GET", pathOf(none), PEOPLE)).status).toBe(404);
    expect((await reader.get(`/${none.owner}/${none.name}/milestone/${id}`)).status).toBe(404);
  });
});

describe("the page of somebody's milestones", () => {
  it("lists those of their repositories, with the filters of one repository", async () => {
    const user = await make.userWithPassword();
    const own = await Browser.signedIn(user);
    const [one, two] = [await make.repo(user), await make.repo(user, { isPrivate: true })];
    const off = await make.repo(user, { hasIssues: false, hasPullRequests: false });
    const other = await make.repo(owner, { visibility: "public" });
    await makeMilestone(one, { title: "first", deadlineAt: 2000 });
    await makeMilestone(two, { title: BAD, deadlineAt: 1000 });
    await makeMilestone(two, { title: "done", isClosed: true, closedAt: 5000 });
    await makeMilestone(off, { title: "off" });
    await makeMilestone(other, { title: "of another" });
    const listedBy = async (query = "") =>
      Array.from(
        String((await own.get(`/milestones${query}`)).body).matchAll(
          /<h2><a href="([^"]*)\/milestone\/\d+">([^<]*)</g,
        ),
        ([, repo, title]) => `${repo} ${title}`,
      );
    const [at, private_] = [`/${user.name}/${one.name}`, `/${user.name}/${two.name}`];
    expect(await listedBy()).toEqual([`${private_} ${ESCAPED}`, `${at} first`]);
    expect(await listedBy("?sort=furthestduedate&page=1")).toEqual([
      `${at} first`,
      `${private_} ${ESCAPED}`,
    ]);
    expect(await listedBy("?state=closed")).toEqual([`${private_} done`]);
    expect(await listedBy("?q=FIRST")).toEqual([`${at} first`]);
    const page = String((await own.get("/milestones")).body);
    expect(page).toContain("Open 2</a>");
    expect(page).toContain("Closed 1</a>");
    expect(page).not.toContain("<script>alert");
    expect(String((await own.get("/milestones?q=none")).body)).toContain("There are no open");
    const { headers } = await visit("GET", "/milestones", PEOPLE);
    expect(headers.get("Location")).toBe("/user/login?redirect_to=%2Fmilestones");
  });
});

describe("the page of a milestone", () => {
  it("shows it, by its id alone, and of its repository alone", async () => {
    const [repo, other] = [await make.repo(owner), await make.repo(owner)];
    const { id } = await makeMilestone(repo, { title: "1.0", description: "_Soon_" });
    const at = `/${repo.owner}/${repo.name}/milestone`;
    const page = await read(`${at}/${id}`);
    expect(page).toContain(`<title>1.0 - ${repo.owner}/${repo.name}`);
    expect(page).toMatch(/0% complete[^]*<em>Soon<\/em>/);
    for (const path of [`${at}/1.0`, `${at}/0`, `/${other.owner}/${other.name}/milestone/${id}`])
      expect((await visit("GET", path, PEOPLE)).status, path).toBe(404);
  });

  it("lists its issues and pull requests, and no others", async () => {
    const repo = await make.repo(owner);
    // Titles neither tell milestones apart nor count as ids.
    const { id } = await makeMilestone(repo, { title: "same" });
    const other = await makeMilestone(repo, { title: "same" });
    await makeMilestone(repo, { title: String(id) });
    await makeIssue(repo, { title: "an open one", milestoneId: id });
    await makeIssue(repo, { title: "a closed one", milestoneId: id, isClosed: true });
    await makeIssue(repo, { title: "of another", milestoneId: other.id });
    await makePull(repo, {}, { title: "a pull request", milestoneId: id });
    const at = `/${repo.owner}/${repo.name}/milestone/${id}`;
    const titles = async (query: string) =>
      Array.from(
        (await read(at + query)).matchAll(/<a class="title"[^>]*>([^<]*)</g),
        ([, title]) => title,
      );
    expect(await titles("")).toEqual(["a pull request", "an open one"]);
    expect(await titles("?state=closed")).toEqual(["a closed one"]);
    expect(await titles("?state=all&sort=oldest&q=one")).toEqual(["an open one", "a closed one"]);
    expect(await titles("?label=none")).toEqual([]);
    expect(await read(at)).toContain("Open 2</a>");
  });

  it("escapes what people write", async () => {
    const repo = await make.repo(owner);
    const { id } = await makeMilestone(repo, { title: BAD, description: BAD });
    const single = `/${repo.owner}/${repo.name}/milestone/${id}`;
    for (const path of [pathOf(repo), single, pathOf(repo, `/${id}/edit`)]) {
      const page = String((await browser.get(path)).body);
      expect(page).toContain(ESCAPED);
      expect(page).not.toContain("<script>alert");
    }
  });
});

describe("the form of a new milestone", () => {
  it("creates it once, however often it is sent, also at once", async () => {
    const repo = await make.repo(owner);
    const fields = { title: " 1.0 ", content: "one\r\n\r\ntwo ", deadline: "2026-02-28" };
    const sent = { ...fields, _csrf: formTokenOf((await browser.get(pathOf(repo, "/new"))).body) };
    const send = () => browser.post(pathOf(repo, "/new"), sent);
    for (const { status, headers } of [await send(), ...(await Promise.all([send(), send()]))])
      expect([status, headers.get("Location")]).toEqual([303, pathOf(repo)]);
    expect(await milestonesOf(repo)).toMatchObject([
      {
        title: "1.0",
        description: "one\n\ntwo ",
        deadlineAt: Date.UTC(2026, 1, 28, 23, 59, 59),
        isClosed: false,
      },
    ]);
    expect(await typesOf(repo)).toEqual(["milestone.created"]);
    // Another milestone may have the same title.
    await browser.submit(pathOf(repo, "/new"), { ...fields, deadline: "" });
    expect(await milestonesOf(repo)).toMatchObject([{}, { title: "1.0", deadlineAt: null }]);
  });

  it.each<[string, Record<string, string>, string, string]>([
    ["no title", { title: " " }, "Must not be empty.", "title-fault"],
    [
      "a long title",
      { title: "x".repeat(256) },
      "Must have at most 255 characters.",
      "title-fault",
    ],
    [
      "a long description",
      { content: "x".repeat(256 * 1024) },
      "Must have at most 65536 characters.",
      "content-fault",
    ],
    ...[
      "tomorrow",
      "2026-02-29",
      "2026-13-01",
      "1969-12-31",
      "10000-01-01",
      "2026-01-01T00:00",
    ].map((deadline): [string, Record<string, string>, string, string] => [
      deadline,
      { deadline },
      "Must be a day such as 2026-12-31.",
      "deadline-fault",
    ]),
  ])("keeps what was typed, and says what is wrong: %s", async (_, fields, message, id) => {
    const repo = await make.repo(owner);
    const sent = { title: BAD, content: BAD, deadline: "2026-02-28", ...fields };
    const { status, body } = await browser.submit(pathOf(repo, "/new"), sent);
    expect(status).toBe(422);
    expect(body).toContain(`<p class="fault" id="${id}" role="alert">${message}</p>`);
    expect(body).toContain(`value="${fields["title"] ?? ESCAPED}"`);
    expect(body).toContain(`>\n${fields["content"] ?? ESCAPED}</textarea>`);
    expect(body).toContain(`value="${fields["deadline"] ?? "2026-02-28"}"`);
    expect(await milestonesOf(repo)).toEqual([]);
    expect(await typesOf(repo)).toEqual([]);
  });

  it("takes a description as long as the API does, with ends of lines as browsers send them", async () => {
    const repo = await make.repo(owner);
    const content = "é\r\n".repeat(5000) + "x".repeat(65_536 - 10_000);
    const { status } = await browser.submit(pathOf(repo, "/new"), { title: "1.0", content });
    expect(status).toBe(303);
    expect((await milestonesOf(repo))[0]?.description).toHaveLength(65_536);
  });
});

describe("the form of a milestone", () => {
  async function makeScene() {
    const repo = await make.repo(owner);
    const fields = { title: "1.0", description: "one", deadlineAt: Date.UTC(2026, 1, 28, 12) };
    const milestone = await makeMilestone(repo, fields);
    return { repo, milestone, path: pathOf(repo, `/${milestone.id}/edit`) };
  }

  it("shows the milestone, and changes it", async () => {
    const { repo, milestone, path } = await makeScene();
    const { body } = await browser.get(path);
    expect(body).toContain(`value="1.0"`);
    expect(body).toContain(">\none</textarea>");
    expect(body).toContain(`value="2026-02-28"`);
    const sent = { title: "1.1", content: "two", deadline: "" };
    const { status, headers } = await browser.submit(path, sent);
    const single = `/${repo.owner}/${repo.name}/milestone/${milestone.id}`;
    expect([status, headers.get("Location")]).toEqual([303, single]);
    expect(await milestonesOf(repo)).toMatchObject([
      { title: "1.1", description: "two", deadlineAt: null, isClosed: false },
    ]);
    expect(await typesOf(repo)).toEqual(["milestone.edited"]);
  });

  it("replaces no edit that its sender has not seen", async () => {
    const { repo, milestone, path } = await makeScene();
    const { body: form } = await browser.get(path);
    const sent = {
      _csrf: formTokenOf(form),
      seen_at: String(milestone.updatedAt),
      title: "1.1",
      content: "two",
      deadline: "",
    };
    const edit = { title: "1.0.1", description: BAD };
    await call("PATCH", `/repos${pathOf(repo, `/${milestone.id}`)}`, { as: owner, json: edit });
    const stored = await milestonesOf(repo);
    // A form that is refused for another reason has the new version, too.
    const unnamed = await browser.post(path, { ...sent, title: "" });
    expect(unnamed.body).toMatch(/as it is now[^]*1\.0\.1[^]*&lt;script/);
    const refused = await browser.post(path, sent);
    expect(refused.status).toBe(409);
    expect(refused.body).toContain("Somebody else has changed this milestone meanwhile.");
    expect(refused.body).toMatch(/as it is now[^]*1\.0\.1[^]*&lt;script/);
    expect(refused.body).toContain(">\ntwo</textarea>");
    expect(await milestonesOf(repo)).toEqual(stored);
    expect(await typesOf(repo)).toEqual(["milestone.edited"]);

    // Its sender has seen it now.
    const [, seenAt = ""] = /name="seen_at" value="(\d+)"/.exec(String(refused.body)) ?? [];
    for (let again = 0; again < 2; again++)
      expect((await browser.post(path, { ...sent, seen_at: seenAt })).status).toBe(303);
    expect(await milestonesOf(repo)).toMatchObject([{ title: "1.1", description: "two" }]);
    expect(await typesOf(repo)).toEqual(["milestone.edited", "milestone.edited"]);
  });
});

describe("a milestone", () => {
  it("is closed, opened and deleted", async () => {
    const repo = await make.repo(owner);
    const { id } = await makeMilestone(repo);
    await addIssues(repo, id, 1, 0);
    const list = async (form: string, query = "") => {
      const { status, headers } = await browser.submit(pathOf(repo, query), {}, pathOf(repo, form));
      expect([status, headers.get("Location")]).toEqual([303, pathOf(repo)]);
      return milestonesOf(repo);
    };
    expect(await list(`/${id}/close`)).toMatchObject([{ isClosed: true }]);
    expect(await list(`/${id}/open`, "?state=closed")).toMatchObject([{ isClosed: false }]);
    expect(await list("/delete")).toEqual([]);
    expect(await typesOf(repo)).toEqual([
      "milestone.closed",
      "milestone.reopened",
      "milestone.deleted",
    ]);
  });

  // SECURITY: each id is looked up together with its repository.
  it("of another repository is none", async () => {
    const [repo, other] = [await make.repo(owner), await make.repo(owner)];
    const kept = await makeMilestone(other);
    const token = formTokenOf((await browser.get(pathOf(repo, "/new"))).body);
    const sent = { _csrf: token, id: String(kept.id), title: "x", seen_at: "1" };
    for (const form of [`/${kept.id}/edit`, `/${kept.id}/close`, "/delete"])
      expect((await browser.post(pathOf(repo, form), sent)).status, form).toBe(404);
    expect((await browser.get(pathOf(repo, `/${kept.id}/edit`))).status).toBe(404);
    expect(await milestonesOf(other)).toEqual([kept]);
  });
});

describe("the forms of milestones", () => {
  /** Sends each form by somebody who may not, and requires that nothing is written. */
  async function expectRefused(
    repo: TestRepo,
    by: Browser,
    status: number,
    fields: Record<string, string> = {},
    headers?: Record<string, string>,
  ) {
    const milestone = await makeMilestone(repo);
    const sent = {
      _csrf: formTokenOf((await by.get("/user/settings/account")).body),
      id: String(milestone.id),
      title: "x",
      seen_at: String(milestone.updatedAt),
      ...fields,
    };
    for (const form of ["/new", `/${milestone.id}/edit`, `/${milestone.id}/close`, "/delete"]) {
      const answer = await by.post(pathOf(repo, form), sent, headers);
      expect(answer.status, form).toBe(status);
    }
    expect(await milestonesOf(repo)).toEqual([milestone]);
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
    const milestone = await makeMilestone(repo);
    const stranger = new Browser(undefined, PEOPLE.headers);
    for (const form of [`/${milestone.id}/close`, "/delete"]) {
      const sent = { id: String(milestone.id) };
      expect((await stranger.post(pathOf(repo, form), sent)).status).toBe(303);
    }
    expect(await milestonesOf(repo)).toEqual([milestone]);
    const { headers } = await visit("GET", pathOf(repo, "/new"), PEOPLE);
    const back = encodeURIComponent(pathOf(repo, "/new"));
    expect(headers.get("Location")).toBe(`/user/login?redirect_to=${back}`);
  });

  it("show what was typed to those whose session has ended", async () => {
    const repo = await make.repo(owner);
    const milestone = await makeMilestone(repo);
    const stranger = new Browser(undefined, PEOPLE.headers);
    for (const form of ["/new", `/${milestone.id}/edit`]) {
      const { status, body } = await stranger.post(pathOf(repo, form), {
        title: "x",
        content: BAD,
      });
      expect(status).toBe(403);
      expect(body).toContain(`>\n${ESCAPED}</textarea>`);
    }
    expect(await milestonesOf(repo)).toEqual([milestone]);
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
    const large = { content: "x".repeat(4 * 1024 * 1024) };
    await expectRefused(await make.repo(owner), browser, 413, large);
  });
});
