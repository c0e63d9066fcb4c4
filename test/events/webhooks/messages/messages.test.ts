import { describe, expect, it } from "vitest";

import { formatContent } from "../../../../src/events/webhooks/deliveries/format-content.ts";
import { HOOK_TYPES, type HookType } from "../../../../src/db/schema/index.ts";
import type { Payload } from "../../../../src/events/webhooks/payloads/payload.ts";
import {
  type Pushed,
  toPushPayload,
} from "../../../../src/events/webhooks/payloads/push-payload.ts";
import {
  toCreatePayload,
  toDeletePayload,
} from "../../../../src/events/webhooks/payloads/ref-payload.ts";
import {
  toForkPayload,
  toRepositoryPayload,
} from "../../../../src/events/webhooks/payloads/repository-payload.ts";
import { toPackagePayload } from "../../../../src/events/webhooks/payloads/package-payload.ts";
import { toReleasePayload } from "../../../../src/events/webhooks/payloads/release-payload.ts";
import type { PayloadContext } from "../../../../src/events/webhooks/payloads/payload-context.ts";
import type { ReleaseContext } from "../../../../src/shapes/releases/release.ts";
import { toStatusPayload } from "../../../../src/events/webhooks/payloads/status-payload.ts";
import type { CommitStatus } from "../../../../src/db/schema/index.ts";
import { toPullPayload } from "../../../../src/events/webhooks/payloads/pull-payload.ts";
import {
  toCommentPayload,
  toIssuePayload,
} from "../../../../src/events/webhooks/payloads/issue-payload.ts";
import { commentOn, issueIn, pullIn } from "../../../support/issue-contexts.ts";
import { makeCommit, makeOccasion, oidOf } from "../../../support/payload-contexts.ts";

const CHATS = HOOK_TYPES.filter((type) => type !== "gitea" && type !== "gogs");
const SLACK = { channel: "#forge", username: "forge", iconUrl: "", color: "#123456" };

// oxlint-disable-next-line typescript/no-explicit-any -- six forms, each read where it is known
const read = (type: HookType, payload: Payload): any => {
  const content = formatContent({ type, slack: SLACK }, payload);
  return content === undefined ? undefined : JSON.parse(content);
};

const pushOf = (commits: Pushed["commits"]): Pushed => ({
  ref: "refs/heads/main",
  before: oidOf(1),
  after: oidOf(2),
  commits,
  total: commits.length,
  head: commits[0],
});

/** Text that is markup in at least one chat. */
const HOSTILE = '<!channel> <at user_id="all"> [a](https://evil.example) @everyone *b* `c` & "d"';

async function makePush(commits = [makeCommit(2, { message: `${HOSTILE}\n\nMore` })]) {
  const context = await makeOccasion();
  return { event: "push", body: toPushPayload(context, pushOf(commits)) } as const;
}

const status = (fields: Partial<CommitStatus>): CommitStatus => ({
  id: 1,
  repoId: 1,
  commitOid: oidOf(2),
  number: 1,
  state: "failure",
  context: "ci",
  description: "",
  targetUrl: "",
  creatorId: null,
  createdAt: 0,
  ...fields,
});

const ISSUE_ACTIONS = [
  "opened",
  "closed",
  "reopened",
  "edited",
  "deleted",
  "assigned",
  "unassigned",
  "label_updated",
  "label_cleared",
  "milestoned",
  "demilestoned",
] as const;
const PULL_ACTIONS = ["opened", "closed", "edited", "deleted", "label_cleared"] as const;
const RELEASE_ACTIONS = ["published", "updated", "deleted"] as const;
const COMMENT_ACTIONS = ["created", "edited", "deleted"] as const;

const releaseIn = ({ repo, sender }: PayloadContext): ReleaseContext => ({
  repo,
  row: {
    id: 1,
    repoId: repo.row.id,
    tagName: "v1",
    lowerTagName: "v1",
    target: "main",
    title: "One",
    body: "text",
    isDraft: false,
    isPrerelease: false,
    publisherId: sender?.id ?? null,
    originalAuthor: "",
    originalAuthorId: 0,
    createdAt: 1000,
    publishedAt: 1000,
  },
  publisher: sender,
  assets: [],
});

describe("chat messages", () => {
  it("have an issue by its title and the first line of its text", async () => {
    const context = await makeOccasion();
    const issue = issueIn(context, { title: HOSTILE, body: `\r\n \n${HOSTILE}\nMore` });
    const body = toIssuePayload(context, "opened", issue);
    const slack = read("slack", { event: "issues", body });
    const { full_name: name, html_url: html } = body.repository;
    const { login, html_url: profile } = body.sender;
    const escaped = `&lt;!channel&gt; &lt;at user_id="all"&gt; [a](https://evil.example) @everyone *b* \`c\` &amp; "d"`;
    expect(slack.text).toBe(
      `[<${html}|${name}>] Issue opened: <${html}/issues/2|#2 ${escaped}> by <${profile}|${login}>`,
    );
    expect(slack.attachments[0].text).toBe(escaped);
    const feishu = read("feishu", { event: "issues", body });
    expect(feishu.content.text).not.toContain("<at");
    expect(read("discord", { event: "issues", body }).allowed_mentions).toEqual({ parse: [] });
    expect(read("telegram", { event: "issues", body }).text).not.toContain("<!channel");
  });

  it.each([
    ["assigned", (login: string) => `Assignees: ${login}`],
    ["label_updated", () => "Labels: roof"],
    ["milestoned", () => "Milestone: spring"],
    ["closed", () => `Commit ${oidOf(2).slice(0, 10)}`],
    ["unassigned", () => undefined],
  ] as const)("have the fields of an issue after it was %s", async (action, detail) => {
    const context = await makeOccasion();
    const commitOid = action === "closed" ? oidOf(2) : "";
    const body = toIssuePayload(context, action, issueIn(context), { commitOid });
    const { attachments } = read("slack", { event: "issues", body });
    expect(attachments?.[0]?.text || undefined).toBe(detail(body.sender.login));
  });

  it.each([
    ["opened", {}, "opened", "In every *room*"],
    ["closed", {}, "closed", undefined],
    ["closed", { mergedAt: 1000 }, "merged", "Base: main"],
    ["synchronized", {}, "synchronized", "Head: topic at 1111111"],
    ["assigned", {}, "assigned", "Assignees: {sender}"],
    ["enqueued", {}, "added to the merge queue", "Base: main"],
    ["dequeued", {}, "removed from the merge queue", "Reason: checks failed"],
  ] as const)("have a pull request that is %s, as %j", async (action, fields, deed, detail) => {
    const context = await makeOccasion();
    const details = action === "dequeued" ? ({ reason: "checks_failed" } as const) : {};
    const body = toPullPayload(context, action, pullIn(context, fields), details);
    const slack = read("slack", { event: "pull_request", body });
    const { full_name: name, html_url: html } = body.repository;
    const { login, html_url: profile } = body.sender;
    expect(slack.text).toBe(
      `[<${html}|${name}>] Pull request ${deed}: <${html}/pulls/2|#2 It rains> by <${profile}|${login}>`,
    );
    const shown = detail?.replace("{sender}", login);
    expect(slack.attachments?.[0]?.text || undefined).toBe(shown);
  });

  it("have reviews and review requests", async () => {
    const context = await makeOccasion();
    const pull = pullIn(context);
    const review = { type: "pull_request_review_rejected", content: "No.\nBecause" } as const;
    const reviewed = toPullPayload(context, "reviewed", pull, { review });
    const rejected = read("msteams", { event: "pull_request_review_rejected", body: reviewed });
    const full = `${context.repo.owner.name}/${context.repo.row.name}`;
    expect(rejected.title).toBe(`[${full}] Pull request changes requested: #2 It rains`);
    expect(rejected.sections[0].text).toBe("No.");
    const asked = { reviewer: context.sender };
    const titleOf = (action: "review_requested" | "review_request_removed") => {
      const body = toPullPayload(context, action, pull, asked);
      return read("msteams", { event: "pull_request_review_request", body });
    };
    const { title, sections } = titleOf("review_requested");
    expect(title).toBe(`[${full}] Pull request review requested: #2 It rains`);
    expect(sections[0].text).toBe(`Reviewer: ${context.sender?.name}`);
    expect(titleOf("review_request_removed").title).toContain("review request removed");
  });

  it.each([
    ["created", true],
    ["deleted", false],
  ] as const)("have a package that is %s, of its owner or repository", async (action, links) => {
    const { repo, sender, viewer } = await makeOccasion();
    const { owner } = repo;
    const subject = {
      ownerId: owner.id,
      versionId: 1,
      packageType: "npm" as const,
      name: "<!channel>",
      version: "1.0",
      creatorId: owner.id,
      publishedAt: 1000,
    };
    const bodyIn = (where: typeof repo | undefined) =>
      toPackagePayload({ owner, creator: owner, repo: where, sender, viewer }, action, subject);
    const { package: pkg } = bodyIn(undefined);
    const slack = read("slack", { event: "package", body: bodyIn(undefined) });
    const name = "&lt;!channel&gt; 1.0";
    const shown = links ? `<${pkg.html_url}|${name}>` : name;
    expect(slack.text).toContain(`Package of npm ${shown} ${action} by`);
    const factOf = (where: typeof repo | undefined) =>
      read("msteams", { event: "package", body: bodyIn(where) }).sections[0].facts[0].name;
    expect([factOf(undefined), factOf(repo)]).toEqual(["Owner:", "Repository:"]);
  });

  it("link to a comment, and to nothing that was deleted", async () => {
    const context = await makeOccasion();
    const issue = issueIn(context);
    const urlOf = (payload: Payload) => read("discord", payload).embeds[0].url;
    const ofComment = (action: (typeof COMMENT_ACTIONS)[number]) =>
      urlOf({
        event: "issue_comment",
        body: toCommentPayload(context, action, issue, commentOn(issue)),
      });
    const deleted = toIssuePayload(context, "deleted", issue);
    const page = deleted.issue.html_url;
    expect(ofComment("created")).toBe(`${page}#issuecomment-6`);
    expect(ofComment("deleted")).toBe(page);
    expect(urlOf({ event: "issues", body: deleted })).toBe(deleted.repository.html_url);
    expect(JSON.stringify(read("slack", { event: "issues", body: deleted }))).not.toContain(page);
  });

  it("escapes markup in a push for each chat", async () => {
    const push = await makePush();
    const { full_name: name, html_url: html } = push.body.repository;
    const { login, html_url: profile } = push.body.sender;
    const commit = `${html}/commit/${oidOf(2)}`;

    const slack = read("slack", push);
    expect(slack).toMatchObject({ channel: "#forge", username: "forge", link_names: 0 });
    expect(slack.text).toBe(
      `[<${html}|${name}>:<${html}/src/branch/main|main>] <${commit}|1 new commit> by <${profile}|${login}>`,
    );
    expect(slack.attachments).toMatchObject([{ color: "#123456", title_link: html }]);
    expect(slack.attachments[0].text).toBe(
      `<${commit}|0000000> &lt;!channel&gt; &lt;at user_id="all"&gt; [a](https://evil.example) @everyone *b* \`c\` &amp; "d" - Ada`,
    );

    const discord = read("discord", push);
    expect(discord.allowed_mentions).toEqual({ parse: [] });
    expect(discord.embeds[0]).toMatchObject({ url: commit, author: { name: login } });
    expect(discord.embeds[0].title).toBe(`\\[${name}:main\\] 1 new commit`);
    expect(discord.embeds[0].description).toBe(
      `[0000000](${commit}) ` +
        String.raw`\<!channel\> \<at user\_id="all"\> \[a\]\(https\://evil.example\) @everyone \*b\* \`c\` & "d" - Ada`,
    );

    const teams = read("msteams", push);
    expect(teams).toMatchObject({ "@type": "MessageCard", themeColor: "1a7f37" });
    expect(teams.title).toBe(`[${name}:main] 1 new commit`);
    expect(teams.sections[0].text).toBe(discord.embeds[0].description);
    expect(teams.potentialAction[0].targets).toEqual([{ os: "default", uri: commit }]);

    const telegram = read("telegram", push);
    expect(telegram.parse_mode).toBe("HTML");
    expect(telegram.text).toContain(
      `<a href="${commit}">0000000</a> &lt;!channel&gt; &lt;at user_id=&quot;all&quot;&gt; [a]`,
    );

    const feishu = read("feishu", push);
    expect(feishu.msg_type).toBe("text");
    expect(feishu.content.text).not.toContain("<at");
    expect(feishu.content.text).toContain(`0000000 (${commit})`);

    const matrix = read("matrix", push);
    expect(matrix).toMatchObject({ msgtype: "m.notice", "m.mentions": {} });
    expect(matrix.formatted_body).toContain(`<br><a href="${commit}">0000000</a> &lt;!channel&gt;`);
    expect(matrix.body).toContain(`\n0000000 (${commit}) <!channel>`);
  });

  it("formats every event for every chat", async () => {
    const context = await makeOccasion();
    const { repo: fork } = await makeOccasion();
    const created = { ref: "refs/heads/a b", before: null, after: oidOf(1) };
    const payloads: Payload[] = [
      await pushPayloadOf(context),
      { event: "repository", body: toRepositoryPayload(context, "created") },
      { event: "repository", body: toRepositoryPayload(context, "deleted") },
      { event: "fork", body: toForkPayload(context, fork) },
      { event: "create", body: toCreatePayload(context, created) },
      { event: "delete", body: toDeletePayload(context, { ...created, ref: "refs/tags/v1" }) },
      { event: "status", body: toStatusPayload(context, status({}), makeCommit(2)) },
      ...ISSUE_ACTIONS.map((action): Payload => {
        return { event: "issues", body: toIssuePayload(context, action, issueIn(context)) };
      }),
      ...COMMENT_ACTIONS.map((action): Payload => {
        const issue = issueIn(context);
        const body = toCommentPayload(context, action, issue, commentOn(issue));
        return { event: "issue_comment", body };
      }),
      ...RELEASE_ACTIONS.map((action): Payload => {
        return { event: "release", body: toReleasePayload(context, action, releaseIn(context)) };
      }),
      ...PULL_ACTIONS.map((action): Payload => {
        const merged = action === "closed" ? { mergedAt: 1000 } : {};
        return {
          event: "pull_request",
          body: toPullPayload(context, action, pullIn(context, merged)),
        };
      }),
    ];
    const name = context.repo.row.name;
    for (const payload of payloads) {
      for (const type of CHATS) {
        expect(JSON.stringify(read(type, payload)), `${payload.event} ${type}`).toContain(name);
      }
    }
    const titles = payloads.map((payload) => read("msteams", payload).title);
    const full = `${context.repo.owner.name}/${name}`;
    expect(titles).toEqual([
      `[${full}:main] 1 new commit`,
      `[${full}] Repository created`,
      `[${full}] Repository deleted`,
      `${full} is forked to ${fork.owner.name}/${fork.row.name}`,
      `[${full}] branch a b created`,
      `[${full}] tag v1 deleted`,
      `[${full}] 0000000 ci: failure`,
      ...[
        "Issue opened: #2 It rains",
        "Issue closed: #2 It rains",
        "Issue reopened: #2 It rains",
        "Issue edited: #2 It rains",
        "Issue deleted: #2 It rains",
        "Issue assigned: #2 It rains",
        "Issue unassigned: #2 It rains",
        "Issue labels updated: #2 It rains",
        "Issue labels cleared: #2 It rains",
        "Issue milestone set: #2 It rains",
        "Issue milestone removed: #2 It rains",
        "Comment created on issue #2 It rains",
        "Comment edited on issue #2 It rains",
        "Comment deleted on issue #2 It rains",
        "Release v1 published",
        "Release v1 updated",
        "Release v1 deleted",
        "Pull request opened: #2 It rains",
        "Pull request merged: #2 It rains",
        "Pull request edited: #2 It rains",
        "Pull request deleted: #2 It rains",
        "Pull request labels cleared: #2 It rains",
      ].map((text) => `[${full}] ${text}`),
    ]);
  });

  it("makes no message for a push without commits", async () => {
    const push = await makePush([]);
    for (const type of CHATS) expect(read(type, push)).toBeUndefined();
    expect(read("gitea", push)).toMatchObject({ commits: [] });
  });

  it("stays within the limits of each chat", async () => {
    const commits = Array.from({ length: 5 }, (_, at) =>
      makeCommit(at, { message: "<*&".repeat(500), authorName: "[&]".repeat(100) }),
    );
    const push = await makePush(commits);
    expect(read("telegram", push).text.length).toBeLessThanOrEqual(4096);
    expect(read("discord", push).embeds[0].title.length).toBeLessThanOrEqual(256);
    expect(read("discord", push).embeds[0].description.length).toBeLessThanOrEqual(4096);
    // Details are cut at whole lines, so no tag stays open.
    const { text } = read("telegram", push) as { text: string };
    expect(text.split("<a ").length).toBe(text.split("</a>").length);
    for (const type of CHATS) {
      expect(JSON.stringify(read(type, push)).length).toBeLessThan(28_000);
    }
  });

  // The client that reports a status chooses its URL.
  it("escapes a status URL that would end its link", async () => {
    const payload = await statusPayloadOf('https://ci.example/a|b>c)d"e');
    expect(read("discord", payload).embeds[0].description).toBe(
      '[Look](https://ci.example/a|b%3Ec%29d"e)',
    );
    expect(read("slack", payload).attachments[0].text).toBe(
      '<https://ci.example/a%7Cb&gt;c)d"e|Look>',
    );
    expect(read("telegram", payload).text).toContain(
      '<a href="https://ci.example/a|b&gt;c)d&quot;e">Look</a>',
    );
  });

  it("does not link a script URL of a status", async () => {
    const payload = await statusPayloadOf("javascript:alert(1)");
    for (const type of CHATS) {
      expect(JSON.stringify(read(type, payload))).not.toContain("javascript");
    }
  });
});

async function pushPayloadOf(context: Awaited<ReturnType<typeof makeOccasion>>): Promise<Payload> {
  return { event: "push", body: toPushPayload(context, pushOf([makeCommit(2)])) };
}

async function statusPayloadOf(targetUrl: string): Promise<Payload> {
  const row = status({ targetUrl, description: "Look" });
  const body = toStatusPayload(await makeOccasion(), row, makeCommit(2));
  return { event: "status", body };
}
