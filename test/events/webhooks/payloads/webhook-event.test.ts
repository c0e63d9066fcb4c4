import { describe, expect, it } from "vitest";

import type { Event } from "../../../../src/events/event.ts";
import { listWebhookEvents } from "../../../../src/events/webhooks/payloads/webhook-event.ts";
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
