import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  blocks,
  follows,
  organizationMembers,
  userRedirects,
  type User,
  users,
} from "../../../src/db/schema/index.ts";
import { pushOf, recordEvent } from "../../support/activities.ts";
import { Browser } from "../../support/browser.ts";
import { visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeFiles } from "../../support/files.ts";
import { make, type TestRepo } from "../../support/make.ts";
import { storeRefs } from "../../support/push.ts";

const BAD = `"><script>alert(1)</script>`;

const PEOPLE = { headers: { Accept: "text/html" } };

const read = async (path: string): Promise<string> => {
  const { status, body } = await visit("GET", path, PEOPLE);
  expect(status, path).toBe(200);
  return String(body);
};

/** Stores a README on the default branch. */
async function storeReadme(repo: TestRepo, text: string): Promise<void> {
  const { oid, pack } = makeFiles({ "README.md": text });
  await storeRefs(repo, [{ ref: "refs/heads/main", oid }], pack);
}

const publicRepo = (owner: User, fields: Parameters<typeof make.repo>[1] = {}): Promise<TestRepo> =>
  make.repo(owner, { visibility: "public", ...fields });

describe("the page of an account", () => {
  it("shows who it is and what it has", async () => {
    const user = await make.user({
      fullName: "A <b>",
      description: BAD,
      website: "https://site.example",
      location: "Here",
    });
    const repo = await publicRepo(user, { description: BAD, topics: [BAD] });
    const page = await read(`/${user.name}`);
    for (const text of ["A &lt;b&gt;", 'href="https://site.example"', "Here", repo.name]) {
      expect(page).toContain(text);
    }
    expect(page).not.toContain(BAD);
    const tabs = ["activity", "stars", "watching", "followers", "following", "organizations", "x"];
    for (const tab of tabs) await read(`/${user.name}?tab=${tab}`);
    expect(await read(`/${user.name}?q=nothing-like-it`)).not.toContain(`>${repo.name}<`);
  });

  it("has no link for a website that is no address of the web", async () => {
    const user = await make.user({ website: "javascript:alert(1)" });
    expect(await read(`/${user.name}`)).not.toContain('href="javascript:');
  });

  it("narrows its repositories to a kind", async () => {
    const user = await make.user();
    const fork = await publicRepo(user, { isFork: true });
    const archived = await publicRepo(user, { archivedAt: 1000 });
    const listed = async (type: string) => {
      const page = await read(`/${user.name}?tab=repositories&type=${type}`);
      return [fork, archived].map(({ name }) => page.includes(`<strong>${name}</strong>`));
    };
    expect(await listed("")).toEqual([true, true]);
    expect(await listed("forks")).toEqual([true, false]);
    expect(await listed("archived")).toEqual([false, true]);
    expect(await listed("sources")).toEqual([false, true]);
    expect(await listed("mirrors")).toEqual([false, false]);
  });

  it("begins with the README of its profile, if that is public", async () => {
    const user = await make.user();
    const profile = await make.repo(user, { name: ".profile", visibility: "public" });
    expect(await read(`/${user.name}`)).not.toContain("?tab=overview");
    await storeReadme(profile, `# Hello ${BAD}`);
    const page = await read(`/${user.name}`);
    expect(page).toMatch(/<h1[^>]*>Hello/);
    expect(page).toMatch(/tab=overview" aria-current="page"/);
    expect(page).not.toContain(BAD);
    expect(await read(`/${user.name}?tab=repositories`)).toContain("<strong>.profile</strong>");

    const hidden = await make.user();
    const own = await make.repo(hidden, {
      name: ".profile",
      isPrivate: true,
      visibility: "private",
    });
    await storeReadme(own, "# Secret");
    expect(await read(`/${hidden.name}`)).not.toContain("Secret");
  });

  it("counts the contributions of a year by days and months", async () => {
    const user = await make.user();
    const repo = await publicRepo(user);
    const today = Date.now();
    for (const at of [today, today, today - 40 * 24 * 3_600_000]) {
      await recordEvent(repo, user, "repository.created", { name: repo.name }, at);
    }
    const page = await read(`/${user.name}?tab=activity`);
    const date = new Date(today).toISOString().slice(0, 10);
    expect(page).toContain("3 contributions in the last year");
    expect(page).toContain(`<title>2 on ${date}</title>`);
    expect(page).toMatch(/By month[^]*<td>2<\/td>/);
    expect(await read(`/${user.name}?tab=activity&date=${date}`)).toContain("created repository");
    expect(await read(`/${user.name}?tab=activity&date=2001-01-01`)).toContain(
      "There is no activity to show.",
    );
    await read(`/${user.name}?tab=activity&date=2001-99-99`);

    await db.update(users).set({ isActivityHidden: true }).where(eq(users.id, user.id));
    expect(await read(`/${user.name}?tab=activity`)).toContain("0 contributions in the last year");
  });

  it("escapes the names of what happened", async () => {
    const user = await make.user();
    const repo = await publicRepo(user);
    await recordEvent(repo, user, "repository.pushed", pushOf(`refs/heads/${BAD}`));
    const page = await read(`/${user.name}?tab=activity`);
    expect(page).toContain("pushed to &quot;&gt;&lt;script&gt;");
    expect(page).not.toContain(BAD);
  });

  it("has its repositories at another address, too", async () => {
    const user = await make.user();
    const { status, headers } = await visit("GET", `/${user.name}/-/repositories`, PEOPLE);
    expect([status, headers.get("Location")]).toEqual([303, `/${user.name}?tab=repositories`]);
  });

  it("shows organizations of which a membership is public", async () => {
    const user = await make.user();
    const [shown, hidden] = [await make.org([user]), await make.org([user])];
    await db
      .update(organizationMembers)
      .set({ isPublic: true })
      .where(eq(organizationMembers.orgId, shown.id));
    const page = await read(`/${user.name}?tab=organizations`);
    expect(page).toContain(`href="/${shown.name}"`);
    expect(page).not.toContain(hidden.name);
  });
});

describe("the forms of an account's page", () => {
  it("follow and unfollow", async () => {
    const [user, other] = [await make.userWithPassword(), await make.user()];
    const browser = await Browser.signedIn(user);
    const followers = () => db.$count(follows, eq(follows.followedId, other.id));
    expect((await browser.submit(`/${other.name}`)).status).toBe(303);
    expect(await followers()).toBe(1);
    expect((await browser.get(`/${other.name}`)).body).toContain("Unfollow");
    await browser.submit(`/${other.name}`);
    expect(await followers()).toBe(0);
  });

  it("block and unblock, with a note", async () => {
    const [user, other] = [await make.userWithPassword(), await make.user()];
    const browser = await Browser.signedIn(user);
    const fields = { action: "block", note: "too loud" };
    expect((await browser.submit(`/${other.name}`, fields)).status).toBe(303);
    const [block] = await db.select().from(blocks).where(eq(blocks.blockedId, other.id));
    expect(block).toMatchObject({ blockerId: user.id, note: "too loud" });
    // A blocked account is not followed: the only form ends the block.
    await browser.submit(`/${other.name}`);
    expect(await db.$count(blocks, eq(blocks.blockedId, other.id))).toBe(0);
  });

  it("say why they are refused, and change nothing then", async () => {
    const [user, other] = [await make.userWithPassword(), await make.user()];
    await db.insert(blocks).values({ blockerId: other.id, blockedId: user.id, createdAt: 1000 });
    const browser = await Browser.signedIn(user);
    const { status, body } = await browser.submit(`/${other.name}`);
    expect(status).toBe(403);
    expect(body).toContain('role="alert"');
    expect(await db.$count(follows, eq(follows.followedId, other.id))).toBe(0);
    expect((await browser.submit(`/${other.name}`, { action: "x" })).status).toBe(422);
  });

  it("are for people who are signed in, and need the token of their page", async () => {
    const [user, other] = [await make.userWithPassword(), await make.user()];
    expect(await read(`/${other.name}`)).not.toContain("Follow</button>");
    expect((await visit("POST", `/${other.name}`, PEOPLE)).status).toBe(303);
    const browser = await Browser.signedIn(user);
    expect((await browser.post(`/${other.name}`, { action: "follow" })).status).toBe(403);
    expect(await db.$count(follows, eq(follows.followedId, other.id))).toBe(0);
  });
});

describe("the pages of an organization", () => {
  it("show its members: outsiders see public ones alone", async () => {
    const [owner, member] = [await make.userWithPassword(), await make.user()];
    const org = await make.org([owner]);
    await make.member(org, await make.team(org), member);
    await db
      .update(organizationMembers)
      .set({ isPublic: true })
      .where(eq(organizationMembers.userId, owner.id));
    const page = await read(`/org/${org.name}/members`);
    expect(page).toContain(`href="/${owner.name}"`);
    expect(page).not.toContain(member.name);
    const { body } = await (await Browser.signedIn(owner)).get(`/org/${org.name}/members`);
    expect(body).toContain(`href="/${member.name}"`);
  });

  it("offer a new repository to members who may create one", async () => {
    const [owner, member] = [await make.userWithPassword(), await make.userWithPassword()];
    const org = await make.org([owner]);
    await make.member(org, await make.team(org), member);
    const button = `href="/repo/create?owner=${org.name}"`;
    const page = (await (await Browser.signedIn(owner)).get(`/${org.name}`)).body;
    expect(page).toContain(button);
    expect(page).toContain("There are no repositories to show yet.");
    expect((await (await Browser.signedIn(member)).get(`/${org.name}`)).body).not.toContain(button);
    expect(await read(`/${org.name}`)).not.toContain("/repo/create");
  });

  it("show teams to members, and a team to its members and owners", async () => {
    const [owner, member, outsider] = [
      await make.userWithPassword(),
      await make.userWithPassword(),
      await make.userWithPassword(),
    ];
    const org = await make.org([owner]);
    const [own, other] = [await make.team(org, { all: false }), await make.team(org)];
    await make.member(org, own, member);
    const repo = await make.repo(org, { isPrivate: true, visibility: "private" });
    await make.teamRepo(own, repo);
    const at = `/org/${org.name}/teams`;
    const statusOf = async (user: Parameters<typeof Browser.signedIn>[0], path: string) =>
      (await (await Browser.signedIn(user)).get(path)).status;

    const { body } = await (await Browser.signedIn(member)).get(`${at}/${own.name.toUpperCase()}`);
    expect(body).toContain(`href="/${member.name}"`);
    expect(body).toContain(`href="/${org.name}/${repo.name}"`);
    expect(await statusOf(member, at)).toBe(200);
    expect(await statusOf(member, `${at}/${other.name}`)).toBe(404);
    expect(await statusOf(owner, `${at}/${other.name}`)).toBe(200);
    expect(await statusOf(owner, `${at}/none`)).toBe(404);
    for (const path of [at, `${at}/${own.name}`]) expect(await statusOf(outsider, path)).toBe(404);
    const { status, headers } = await visit("GET", at, PEOPLE);
    expect([status, headers.get("Location")]).toEqual([
      303,
      `/user/login?redirect_to=${encodeURIComponent(at)}`,
    ]);
  });

  it("are not those of a user", async () => {
    const user = await make.user();
    const { status } = await visit("GET", `/org/${user.name}/members`);
    expect(status).toBe(404);
  });

  it("follow a new name", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const former = { lowerName: `former-${org.lowerName}`, userId: org.id };
    await db.insert(userRedirects).values(former);
    const { status, headers } = await visit("GET", `/org/former-${org.name}/members`);
    expect(status).toBe(307);
    expect(headers.get("Location")).toBe(`https://forge.example/org/${org.name}/members`);
  });
});
