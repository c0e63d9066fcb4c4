import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { admin, callApi, makeRepo, type Repo } from "../support/forge.ts";
import { commit, git, makeWork } from "../support/git.ts";

/** The payload of an issues event, as far as these tests read it. */
interface IssuesPayload {
  readonly action: string;
  readonly commit_id: string;
  readonly number: number;
  readonly repository: { readonly full_name: string };
}

const received: IssuesPayload[] = [];
let receiver: Server;
let receiverUrl = "";

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => (text += part));
    request.on("end", () => {
      received.push(JSON.parse(text) as IssuesPayload);
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
});
afterAll(() => receiver.close());

interface Story {
  readonly repo: Repo;
  /** A working tree whose `main` was pushed. */
  readonly work: string;
}

/** A repository with a hook for issues, a number of issues, and one commit. */
async function makeStory(issueCount = 1): Promise<Story> {
  const repo = await makeRepo();
  await callApi(admin, "POST", `${repo.path}/hooks`, {
    type: "gitea",
    active: true,
    events: ["issues"],
    config: { url: receiverUrl, content_type: "json" },
  });
  const work = await makeWork();
  await commit(work, { "a.txt": "a" }, "start");
  await git(work, ["push", "--quiet", repo.ownUrl, "main"]);
  for (let at = 1; at <= issueCount; at++) {
    await callApi(admin, "POST", `${repo.path}/issues`, { title: `number ${at}` });
  }
  return { repo, work };
}

const push = ({ repo, work }: Story, ...args: string[]): Promise<string> =>
  git(work, ["push", "--quiet", ...args.slice(0, -1), repo.ownUrl, args.at(-1) ?? "main"]);

/** The closings and reopenings that the receiver got, as `action number commit`. */
const receivedOf = ({ repo }: Story): string[] =>
  received
    .filter(({ repository }) => repository.full_name === `${repo.owner}/${repo.name}`)
    .filter(({ action }) => action === "closed" || action === "reopened")
    .map(({ action, number, commit_id: id }) => `${action} ${number} ${id}`);

async function expectReceived(story: Story, lines: readonly string[]): Promise<void> {
  await expect.poll(() => receivedOf(story), { timeout: 60_000, interval: 100 }).toEqual(lines);
}

const kindsOf = async ({ repo }: Story, number: number): Promise<string[]> =>
  (await callApi<{ type: string }[]>(admin, "GET", `${repo.path}/issues/${number}/timeline`)).map(
    ({ type }) => type,
  );

/** Waits until an issue's timeline has the entries. */
async function expectKinds(story: Story, number: number, kinds: readonly string[]): Promise<void> {
  const options = { timeout: 60_000, interval: 200 };
  await expect.poll(() => kindsOf(story, number), options).toEqual(kinds);
}

describe("a push with git", { timeout: 180_000 }, () => {
  it("closes and reopens issues, and sends the receiver one webhook for each, with the commit", async () => {
    const story = await makeStory(2);
    const closing = await commit(story.work, { "a.txt": "b" }, "Fixes: #1, closes #2");
    await push(story, "main");
    await expectReceived(story, [`closed 1 ${closing}`, `closed 2 ${closing}`]);
    const reopening = await commit(story.work, { "a.txt": "c" }, "This reopens #2");
    await push(story, "main");
    await expectReceived(story, [
      `closed 1 ${closing}`,
      `closed 2 ${closing}`,
      `reopened 2 ${reopening}`,
    ]);
    await expectKinds(story, 1, ["commit_ref", "close"]);
    await expectKinds(story, 2, ["commit_ref", "close", "commit_ref", "reopen"]);
    expect(receivedOf(story)).toHaveLength(3);
  });

  it("to another branch refers, and closes when it is merged", async () => {
    const story = await makeStory();
    const { work } = story;
    await git(work, ["checkout", "--quiet", "-b", "side"]);
    const fixing = await commit(work, { "b.txt": "b" }, "fix #1");
    await push(story, "side");
    await expectKinds(story, 1, ["commit_ref"]);
    expect(receivedOf(story)).toEqual([]);
    await git(work, ["checkout", "--quiet", "main"]);
    await commit(work, { "c.txt": "c" }, "meanwhile");
    await git(work, ["merge", "--quiet", "--no-ff", "-m", "merge side", "side"]);
    await push(story, "main");
    await expectReceived(story, [`closed 1 ${fixing}`]);
    await expectKinds(story, 1, ["commit_ref", "close"]);
  });

  it("by force closes with the commits that are new, and with none of them twice", async () => {
    const story = await makeStory(2);
    const { work } = story;
    const first = await commit(work, { "a.txt": "b" }, "fixes #1");
    await push(story, "main");
    await expectReceived(story, [`closed 1 ${first}`]);
    await git(work, ["reset", "--quiet", "--hard", "HEAD~1"]);
    const second = await commit(work, { "a.txt": "c" }, "fixes #2");
    await push(story, "--force", "main");
    await expectReceived(story, [`closed 1 ${first}`, `closed 2 ${second}`]);
    await callApi(admin, "PATCH", `${story.repo.path}/issues/1`, { state: "open" });
    await expectReceived(story, [`closed 1 ${first}`, `closed 2 ${second}`, "reopened 1 "]);
    // The former commit again, and one that shows when its push was handled.
    await git(work, ["reset", "--quiet", "--hard", first]);
    const last = await commit(work, { "a.txt": "d" }, "reopens #2");
    await push(story, "--force", "main");
    await expectReceived(story, [
      `closed 1 ${first}`,
      `closed 2 ${second}`,
      "reopened 1 ",
      `reopened 2 ${last}`,
    ]);
    await expectKinds(story, 1, ["commit_ref", "close", "reopen"]);
    expect(receivedOf(story)).toHaveLength(4);
  });

  it("is not needed: a commit made by API closes, too, and books time", async () => {
    const story = await makeStory();
    const { repo } = story;
    const { commit: made } = await callApi<{ commit: { sha: string } }>(
      admin,
      "POST",
      `${repo.path}/contents/b.txt`,
      { content: "eAo=", message: "Closes #1 @1h30m" },
    );
    await expectReceived(story, [`closed 1 ${made.sha}`]);
    await expectKinds(story, 1, ["commit_ref", "add_time_manual", "close"]);
    const times = await callApi<object[]>(admin, "GET", `${repo.path}/issues/1/times`);
    expect(times).toMatchObject([{ time: 5400, user_name: admin.name }]);
  });
});
