import { describe, expect, it } from "vitest";

import type { Event } from "../../../../src/events/event.ts";
import {
  hasWebhookEvents,
  listWebhookEvents,
} from "../../../../src/events/webhooks/payloads/webhook-event.ts";
import type {
  CommentPayload,
  IssuePayload,
} from "../../../../src/shapes/webhooks/issue-payloads.ts";
import { familyOf, HOOK_EVENTS } from "../../../../src/events/webhooks/payloads/hook-event.ts";
import { oidOf } from "../../../support/payload-contexts.ts";

const push = (ref: string, before: string | null, after: string | null): Event => ({
  type: "repository.pushed",
  repoId: 7,
  ownerId: 1,
  pushId: "p",
  part: 0,
  refCount: 1,
  updates: [{ ref, before, after }],
});
const namesOf = (event: Event): string[] => listWebhookEvents(event).map((each) => each.event);

describe("listWebhookEvents", () => {
  it.each([
    ["a new branch", "refs/heads/x", null, oidOf(1), ["create", "push"]],
    ["an updated branch", "refs/heads/x", oidOf(1), oidOf(2), ["push"]],
    ["a deleted branch", "refs/heads/x", oidOf(1), null, ["delete"]],
    ["a new tag", "refs/tags/x", null, oidOf(1), ["push", "create"]],
    ["an updated tag", "refs/tags/x", oidOf(1), oidOf(2), ["push"]],
    ["a deleted tag", "refs/tags/x", oidOf(1), null, ["push", "delete"]],
    ["another ref", "refs/notes/commits", null, oidOf(1), []],
  ])("lists the events of %s, in order", (_, ref, before, after, names) => {
    expect(namesOf(push(ref, before, after))).toEqual(names);
  });

  it("lists a fork for its source, and a created repository for the fork", () => {
    const event: Event = { type: "repository.forked", repoId: 8, ownerId: 2, parentId: 7 };
    expect(listWebhookEvents(event)).toEqual([
      { event: "fork", repoId: 7, forkId: 8 },
      { event: "repository", repoId: 8, action: "created" },
    ]);
  });

  describe("of an issue", () => {
    const issue = { repoId: 7, ownerId: 1, issueId: 3, number: 2, isPull: false };
    const changes: [name: string, action: string, event: Event][] = [
      ["issues", "opened", { ...issue, type: "issue.opened" }],
      ["issues", "closed", { ...issue, type: "issue.closed", commitOid: "" }],
      ["issues", "reopened", { ...issue, type: "issue.reopened", commitOid: oidOf(1) }],
      ["issues", "edited", { ...issue, type: "issue.edited", from: { title: "a" } }],
      ["issue_assign", "assigned", { ...issue, type: "issue.assigned", userId: 4 }],
      ["issue_assign", "unassigned", { ...issue, type: "issue.unassigned", userId: 4 }],
      ["issue_label", "label_updated", { ...issue, type: "issue.labeled", added: [], removed: [] }],
      ["issue_label", "label_cleared", { ...issue, type: "issue.labels_cleared" }],
      ["issue_milestone", "milestoned", { ...issue, type: "issue.milestoned", milestoneId: 5 }],
      ["issue_milestone", "demilestoned", { ...issue, type: "issue.demilestoned", milestoneId: 5 }],
      ["issue_comment", "created", { ...issue, type: "comment.created", commentId: 6 }],
      ["issue_comment", "edited", { ...issue, type: "comment.edited", commentId: 6, from: "a" }],
    ];

    it.each(changes)("lists %s %s", (event, action, change) => {
      expect(hasWebhookEvents(change.type)).toBe(true);
      expect(listWebhookEvents(change)).toMatchObject([{ event, action, repoId: 7, issueId: 3 }]);
    });

    it("names the commit that closed or reopened it, and is empty without one", () => {
      const commitOids = changes
        .filter(([event]) => event !== "issue_comment")
        .flatMap(([, , change]) => listWebhookEvents(change))
        .map((each) => "commitOid" in each && each.commitOid);
      expect(commitOids).toEqual(["", "", oidOf(1), "", "", "", "", "", "", ""]);
    });

    it("lists a deletion with its recorded payload", () => {
      const body = { action: "deleted" } as unknown as IssuePayload & CommentPayload;
      const gone = { ...issue, title: "t", lastPayload: body };
      expect([
        ...listWebhookEvents({ ...gone, type: "issue.deleted" }),
        ...listWebhookEvents({ ...gone, type: "comment.deleted", commentId: 6 }),
      ]).toEqual([
        { event: "issues", repoId: 7, action: "deleted", body },
        { event: "issue_comment", repoId: 7, action: "deleted", body },
      ]);
    });

    // Pull requests have events of their own.
    it("lists nothing for a pull request, and for changes that hooks cannot subscribe to", () => {
      const pulls = changes.map(([, , change]) => Object.assign({}, change, { isPull: true }));
      const others: Event[] = [
        { ...issue, type: "issue.locked" },
        { ...issue, type: "issue.unlocked" },
        { ...issue, type: "issue.pinned" },
        { ...issue, type: "issue.unpinned" },
        { ...issue, type: "issue.deadline_changed", deadlineAt: null },
      ];
      expect([...pulls, ...others].flatMap(listWebhookEvents)).toEqual([]);
      expect(others.map(({ type }) => hasWebhookEvents(type))).not.toContain(true);
    });
  });

  it("lists nothing for events that hooks cannot subscribe to", () => {
    const silent: Event[] = [
      { type: "star.created", repoId: 7, ownerId: 1 },
      { type: "watch.deleted", repoId: 7, ownerId: 1 },
      { type: "repository.renamed", repoId: 7, ownerId: 1, from: "a", to: "b" },
      { type: "repository.visibility_changed", repoId: 7, ownerId: 1, isPrivate: true },
      { type: "public_key.added", ownerId: 1, fingerprint: "f" },
      { type: "organization.member_added", ownerId: 1, userId: 2, teamId: 3 },
    ];
    expect(silent.flatMap(listWebhookEvents)).toEqual([]);
  });

  it("assigns every event to a family", () => {
    const families = new Set(HOOK_EVENTS.map(familyOf));
    expect([...families].toSorted()).toEqual([
      "create",
      "delete",
      "fork",
      "issue_comment",
      "issues",
      "package",
      "pull_request",
      "pull_request_review",
      "push",
      "release",
      "repository",
      "status",
      "wiki",
      "workflow_job",
      "workflow_run",
    ]);
    expect(familyOf("pull_request_comment")).toBe("issue_comment");
  });
});
