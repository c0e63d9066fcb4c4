import { describe, expect, it } from "vitest";

import { recordEvent } from "../../support/activities.ts";
import { Browser } from "../../support/browser.ts";
import { call, visit } from "../../support/call.ts";
import { makeIssue } from "../../support/issues.ts";
import { make } from "../../support/make.ts";
import { makeNotification } from "../../support/notifications.ts";
import { makePackage } from "../../support/packages.ts";

const BAD = `"><script>alert(1)</script>`;

describe("the first page", () => {
  it("leads who is not signed in to repositories and to the sign-in", async () => {
    const { status, body, headers } = await visit("GET", "/", { headers: { Accept: "text/html" } });
    expect(status).toBe(200);
    expect(body).toContain('href="/explore/repos"');
    expect(body).toContain('href="/user/login"');
    expect(headers.getSetCookie()).toEqual([]);
  });

  it("shows who is signed in their repositories, the feed and what waits for them", async () => {
    const [user, other] = [await make.userWithPassword(), await make.user()];
    const own = await make.repo(user, { isPrivate: true, visibility: "private" });
    const used = await make.repo(other, { visibility: "public" });
    await recordEvent(used, user, "issue.opened", { issueId: (await makeIssue(used)).id });
    const issue = await makeIssue(used, { title: `Assigned ${BAD}` });
    const at = `/repos/${used.owner}/${used.name}`;
    await call("PATCH", `${at}/issues/${issue.number}`, {
      as: other,
      json: { assignees: [user.name] },
    });
    const hidden = await make.repo(other, { isPrivate: true, visibility: "private" });
    await recordEvent(hidden, user);
    await recordEvent(own, user);
    const { body } = await (await Browser.signedIn(user)).get("/");
    expect(body).toContain(`href="/${user.name}/${own.name}"`);
    expect(body).toMatch(new RegExp(`Recently used[^]*href="/${used.owner}/${used.name}"`));
    expect(body).toMatch(
      new RegExp(`Assigned to you[^]*href="/${used.owner}/${used.name}/issues/${issue.number}"`),
    );
    expect(body).toMatch(new RegExp(`Activity[^]*created repository[^]*${own.name}`));
    expect(body).not.toContain(hidden.name);
    expect(body).not.toContain(BAD);
  });

  it("lists the repositories of the reader's teams, and their organizations", async () => {
    const [user, owner] = [await make.userWithPassword(), await make.user()];
    const [org, foreign] = [await make.org([owner]), await make.org([owner])];
    await make.member(org, await make.team(org), user);
    const repo = await make.repo(org, { isPrivate: true, visibility: "private" });
    const hidden = await make.repo(foreign, { isPrivate: true, visibility: "private" });
    const browser = await Browser.signedIn(user);
    const body = String((await browser.get("/")).body);
    expect(body).toMatch(new RegExp(`Your repositories[^]*href="/${org.name}/${repo.name}"`));
    expect(body).toMatch(new RegExp(`Your organizations[^]*href="/${org.name}"`));
    for (const { name } of [foreign, hidden]) expect(body).not.toContain(name);
    const found = String((await browser.get("/explore/repos?yours=1")).body);
    expect(found).toContain(`href="/${org.name}/${repo.name}"`);
    const shown = await make.repo(owner, { visibility: "public" });
    expect((await browser.get(`/explore/repos?q=${shown.name}`)).body).toContain(`/${shown.name}"`);
    expect((await browser.get(`/explore/repos?q=${shown.name}&yours=1`)).body).toContain(
      "No repository was found.",
    );
  });

  it("shows how many notifications are unread, and nobody else's", async () => {
    const [user, other] = [await make.userWithPassword(), await make.userWithPassword()];
    const repo = await make.repo(user, { visibility: "public" });
    await makeNotification(user, await makeIssue(repo));
    await makeNotification(user, await makeIssue(repo));
    expect((await (await Browser.signedIn(user)).get("/explore/users")).body).toContain(
      "2 unread notifications",
    );
    expect((await (await Browser.signedIn(other)).get("/")).body).toContain(
      "0 unread notifications",
    );
  });
});

describe("the number of unread notifications", () => {
  // SECURITY: a reader who lost access to a repository learns nothing more of its issues.
  it.each([
    ["a user", {}, "1 unread notification"],
    ["an administrator", { isAdmin: true }, "2 unread notifications"],
    ["a restricted user", { isRestricted: true }, "0 unread notifications"],
  ])("counts repositories that %s sees", async (_, fields, label) => {
    const reader = await make.userWithPassword(fields);
    const owner = await make.user();
    const shown = await make.repo(owner, { visibility: "public" });
    const hidden = await make.repo(owner, { isPrivate: true, visibility: "private" });
    for (const repo of [shown, hidden]) await makeNotification(reader, await makeIssue(repo));
    const browser = await Browser.signedIn(reader);
    const pkg = await makePackage(owner);
    const paths = ["/", `/${owner.name}`, `/${owner.name}/${shown.name}`];
    const version = `/${owner.name}/-/packages/generic/${pkg.name}/1.0`;
    // A restricted user sees no repository of others without a grant.
    for (const path of reader.isRestricted ? paths.slice(0, 2) : [...paths, version]) {
      expect((await browser.get(path)).body, path).toContain(`aria-label="${label}"`);
    }
  });
});

describe("the notifications of a reader", () => {
  it("are listed, marked one by one, and all at once", async () => {
    const user = await make.userWithPassword();
    const repo = await make.repo(user, { visibility: "public" });
    const [first, second] = [await makeIssue(repo, { title: BAD }), await makeIssue(repo)];
    const { id } = await makeNotification(user, first);
    await makeNotification(user, second);
    const browser = await Browser.signedIn(user);
    const page = String((await browser.get("/notifications")).body);
    expect(page).toContain(`href="/${user.name}/${repo.name}/issues/${first.number}"`);
    expect(page).not.toContain(BAD);

    const fields = { notification_id: String(id), status: "read" };
    await browser.submit("/notifications", fields, "/notifications/status");
    expect((await browser.get("/notifications")).body).not.toContain(`issues/${first.number}"`);
    expect((await browser.get("/notifications?type=read")).body).toContain(
      `issues/${first.number}"`,
    );
    await browser.submit("/notifications", {}, "/notifications/purge");
    expect((await browser.get("/notifications")).body).toContain("There is nothing here.");
  });

  it("are marked by nobody else, an administrator of the site included", async () => {
    const user = await make.userWithPassword();
    const repo = await make.repo(user, { visibility: "public" });
    const { id } = await makeNotification(user, await makeIssue(repo));
    for (const other of [
      await make.userWithPassword(),
      await make.userWithPassword({ isAdmin: true }),
    ]) {
      const browser = await Browser.signedIn(other);
      await makeNotification(other, await makeIssue(repo));
      const fields = { notification_id: String(id), status: "read" };
      const { status } = await browser.submit("/notifications", fields, "/notifications/status");
      expect(status).toBe(404);
    }
    expect((await (await Browser.signedIn(user)).get("/notifications")).body).toContain("Pin");
  });

  it("are for people who are signed in", async () => {
    const { status, headers } = await visit("GET", "/notifications");
    expect(status).toBe(303);
    expect(headers.get("Location")).toBe("/user/login?redirect_to=%2Fnotifications");
  });
});
