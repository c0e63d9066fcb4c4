import { asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { blocks, issues, reviews, timelineEntries, users } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf } from "../../support/events.ts";
import { make, type TestUser } from "../../support/make.ts";
import { makePull, makeReview, type TestPull } from "../../support/pulls.ts";

/** A public repository with a writer, a reader, and a pull request by the poster. */
async function makeAsked(fields: Parameters<typeof make.repo>[1] = {}) {
  const [owner, poster, writer, reader] = [
    await make.user(),
    await make.user(),
    await make.user(),
    await make.user(),
  ];
  const repo = await make.repo(owner, fields);
  await make.collaborator(repo, writer, 2);
  const pull = await makePull(repo, {}, { posterId: poster.id });
  const path = `/repos/${repo.owner}/${repo.name}/pulls/${pull.number}`;
  return { owner, poster, writer, reader, repo, pull, path, list: `${path}/requested_reviewers` };
}

/**
 * A repository of an organization with a team that writes its code, and a pull request by the
 * owner.
 */
async function makeTeamwork() {
  const [owner, member] = [await make.user(), await make.user()];
  const org = await make.org([owner]);
  const team = await make.team(org, { access: 2 });
  await make.member(org, team, member);
  const repo = await make.repo(org);
  const pull = await makePull(repo, {}, { posterId: owner.id });
  const list = `/repos/${repo.owner}/${repo.name}/pulls/${pull.number}/requested_reviewers`;
  return { owner, member, org, team, repo, pull, list };
}

const reviewsOf = (pull: TestPull) =>
  db.select().from(reviews).where(eq(reviews.issueId, pull.id)).orderBy(asc(reviews.id));

const entriesOf = (pull: TestPull) =>
  db
    .select()
    .from(timelineEntries)
    .where(eq(timelineEntries.issueId, pull.id))
    .orderBy(asc(timelineEntries.id));

const ask = (list: string, as: TestUser | undefined, ...reviewers: string[]) =>
  call("POST", list, { ...(as && { as }), json: { reviewers } });

describe("POST /repos/{owner}/{repo}/pulls/{index}/requested_reviewers", () => {
  it("asks a user, announces it, and shows it", async () => {
    const { owner, writer, repo, pull, path, list } = await makeAsked();
    const { status, body } = await ask(list, owner, writer.name.toUpperCase());
    expect([status, body]).toMatchObject([
      201,
      [
        {
          state: "REQUEST_REVIEW",
          user: { login: writer.name },
          team: null,
          official: true,
          html_url: "",
          commit_id: "",
        },
      ],
    ]);
    const [stored] = await reviewsOf(pull);
    expect(await entriesOf(pull)).toMatchObject([
      { kind: "review_request", posterId: owner.id, assigneeId: writer.id, reviewId: stored?.id },
    ]);
    expect(await eventsOf(repo)).toMatchObject([
      { type: "pull.review_requested", payload: { userId: writer.id, teamId: null } },
    ]);
    const shown = await call("GET", path);
    expect(shown.body).toMatchObject({ requested_reviewers: [{ login: writer.name }] });
  });

  it("asks nobody twice, and answers with the new requests only", async () => {
    const { owner, writer, reader, pull, list } = await makeAsked();
    await ask(list, owner, writer.name);
    const { body } = await ask(list, owner, writer.name, reader.name, reader.name);
    expect(body).toMatchObject([{ user: { login: reader.name }, official: false }]);
    expect((await reviewsOf(pull)).length).toBe(2);
    expect((await entriesOf(pull)).length).toBe(2);
  });

  it("asks a team, whose review counts where it may write the code", async () => {
    const { owner, team, repo, pull, list } = await makeTeamwork();
    const json = { team_reviewers: [team.name] };
    const { status, body } = await call("POST", list, { as: owner, json });
    expect([status, body]).toMatchObject([
      201,
      [{ user: null, team: { id: team.id, name: team.name }, official: true }],
    ]);
    expect(await eventsOf(repo)).toMatchObject([
      { type: "pull.review_requested", payload: { userId: null, teamId: team.id } },
    ]);
    expect(await entriesOf(pull)).toMatchObject([{ teamId: team.id, assigneeId: null }]);
  });

  // What a team is called is known to members of its organization.
  it("does not show the teams to a poster from outside", async () => {
    const { team, repo } = await makeTeamwork();
    const outsider = await make.user();
    const pull = await makePull(repo, {}, { posterId: outsider.id });
    const list = `/repos/${repo.owner}/${repo.name}/pulls/${pull.number}/requested_reviewers`;
    const json = { team_reviewers: [team.name] };
    expect(await call("POST", list, { as: outsider, json })).toMatchObject({ status: 404 });
    expect(await reviewsOf(pull)).toEqual([]);
  });

  it("finds a user by an address, unless the user hides it", async () => {
    const { owner, writer, pull, list } = await makeAsked();
    const address = `${writer.name}@example.com`;
    await db.update(users).set({ isEmailHidden: true }).where(eq(users.id, writer.id));
    expect(await ask(list, owner, address)).toMatchObject({ status: 404 });
    expect(await reviewsOf(pull)).toEqual([]);
    await db.update(users).set({ isEmailHidden: false }).where(eq(users.id, writer.id));
    expect((await ask(list, owner, address)).body).toMatchObject([
      { user: { login: writer.name } },
    ]);
  });

  it("lets the earlier approval of the asked user count no more", async () => {
    const { owner, writer, pull, list } = await makeAsked();
    await makeReview(pull, { reviewerId: writer.id, isOfficial: true });
    await ask(list, owner, writer.name);
    expect(await reviewsOf(pull)).toMatchObject([
      { state: "approved", isOfficial: false },
      { state: "request_review", isOfficial: true },
    ]);
  });

  it("refuses callers and reviewers whom it may not concern, and stores nothing", async () => {
    const { owner, poster, writer, reader, repo, pull, list } = await makeAsked();
    const at = (user: TestUser) => `[user_id: ${user.id}, repo_id: ${repo.id}]`;
    const answers = [
      await ask(list, owner, poster.name),
      await ask(list, reader, writer.name),
      await ask(list, owner, "nobody-of-this-name"),
      await ask(list, owner, ""),
      await ask(list, owner, writer.name, ""),
      await call("POST", list, { as: owner, json: { team_reviewers: [""] } }),
      await ask(list, undefined, writer.name),
      await ask(list.replace(`/${pull.number}/`, "/99/"), owner, writer.name),
    ];
    expect(answers.map(({ status, body }) => [status, body?.message])).toMatchObject([
      [422, `poster of pr can't be reviewer ${at(poster)}`],
      [422, `Doer can't choose reviewer ${at(writer)}`],
      [404, undefined],
      [404, undefined],
      [404, undefined],
      [404, undefined],
      [401, "token is required"],
      [404, undefined],
    ]);
    expect(await reviewsOf(pull)).toEqual([]);
    expect(await entriesOf(pull)).toEqual([]);
    expect(await eventsOf(repo)).toEqual([]);
  });

  it("lets the poster choose, but nobody who can't read the repository", async () => {
    const { owner, writer, reader, pull, repo, list } = await makeAsked({
      visibility: "private",
      isPrivate: true,
    });
    const refused = await ask(list, owner, reader.name);
    const message = `Reviewer can't read [user_id: ${reader.id}, repo_id: ${repo.id}]`;
    expect(refused).toMatchObject({ status: 422, body: { message } });
    expect(await ask(list, reader, writer.name)).toMatchObject({ status: 404 });
    expect(await reviewsOf(pull)).toEqual([]);
    const open = await makeAsked();
    expect((await ask(open.list, open.poster, open.writer.name)).status).toBe(201);
  });

  it("refuses users whom a block separates from the poster", async () => {
    const { owner, poster, writer, pull, list } = await makeAsked();
    await db.insert(blocks).values({ blockerId: poster.id, blockedId: writer.id, createdAt: 1000 });
    expect(await ask(list, owner, writer.name)).toMatchObject({
      status: 403,
      body: { message: "user is blocked" },
    });
    expect(await reviewsOf(pull)).toEqual([]);
  });

  it("asks nobody to review a closed one, and nobody without a name", async () => {
    const { owner, writer, pull, list } = await makeAsked();
    expect(await ask(list, owner)).toMatchObject({ status: 201, body: [] });
    await db.update(issues).set({ isClosed: true }).where(eq(issues.id, pull.id));
    expect(await ask(list, owner, writer.name)).toMatchObject({ status: 201, body: [] });
    expect(await reviewsOf(pull)).toEqual([]);
  });

  it("refuses in an archived repository, with the unit off, and too many names", async () => {
    const archived = await makeAsked({ archivedAt: 1000 });
    expect(await ask(archived.list, archived.owner, archived.writer.name)).toMatchObject({
      status: 423,
    });
    const off = await makeAsked({ hasPullRequests: false });
    expect((await ask(off.list, off.reader, off.writer.name)).status).toBe(404);
    const { owner, list } = await makeAsked();
    const many = Array.from({ length: 101 }, (_, at) => `user-${at}`);
    expect((await ask(list, owner, ...many)).status).toBe(422);
    expect([...(await reviewsOf(archived.pull)), ...(await reviewsOf(off.pull))]).toEqual([]);
  });
});

describe("DELETE /repos/{owner}/{repo}/pulls/{index}/requested_reviewers", () => {
  const takeBack = (list: string, as: TestUser, json: object) => call("DELETE", list, { as, json });

  it("takes a request back, announces it, and lets the earlier approval count again", async () => {
    const { owner, writer, repo, pull, path, list } = await makeAsked();
    await makeReview(pull, { reviewerId: writer.id, isOfficial: true });
    await ask(list, owner, writer.name);
    const answer = await takeBack(list, owner, { reviewers: [writer.name] });
    expect(answer.status).toBe(204);
    expect(await reviewsOf(pull)).toMatchObject([{ state: "approved", isOfficial: true }]);
    expect(await entriesOf(pull)).toMatchObject([
      { kind: "review" },
      { kind: "review_request", isAssigneeRemoved: false, reviewId: null },
      { kind: "review_request", isAssigneeRemoved: true, assigneeId: writer.id },
    ]);
    expect((await eventsOf(repo)).map(({ type }) => type)).toEqual([
      "pull.review_requested",
      "pull.review_request_removed",
    ]);
    expect((await call("GET", path)).status).toBe(200);
  });

  it("changes nothing for those who are not asked", async () => {
    const { owner, writer, pull, list } = await makeAsked();
    expect((await takeBack(list, owner, { reviewers: [writer.name] })).status).toBe(204);
    expect(await entriesOf(pull)).toEqual([]);
  });

  it("lets reviewers remove their own requests, and only writers those of others", async () => {
    const { owner, writer, reader, repo, pull, list } = await makeAsked();
    await ask(list, owner, reader.name, writer.name);
    const refused = await takeBack(list, reader, { reviewers: [writer.name] });
    const message = `Doer can't remove reviewer [user_id: ${writer.id}, repo_id: ${repo.id}]`;
    expect(refused).toMatchObject({ status: 422, body: { message } });
    expect((await takeBack(list, reader, { reviewers: ["nobody-here"] })).status).toBe(404);
    expect((await reviewsOf(pull)).length).toBe(2);
    expect((await takeBack(list, reader, { reviewers: [reader.name] })).status).toBe(204);
    expect(await reviewsOf(pull)).toMatchObject([{ reviewerId: writer.id }]);
  });

  it("takes a team back", async () => {
    const { owner, team, repo, pull, list } = await makeTeamwork();
    const json = { team_reviewers: [team.name] };
    await call("POST", list, { as: owner, json });
    expect((await takeBack(list, owner, json)).status).toBe(204);
    expect(await reviewsOf(pull)).toEqual([]);
    expect((await eventsOf(repo)).at(-1)).toMatchObject({
      type: "pull.review_request_removed",
      payload: { teamId: team.id },
    });
  });
});
