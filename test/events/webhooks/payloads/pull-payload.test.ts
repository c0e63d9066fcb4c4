import { describe, expect, it } from "vitest";

import { toCommentPayload } from "../../../../src/events/webhooks/payloads/issue-payload.ts";
import { toPullPayload } from "../../../../src/events/webhooks/payloads/pull-payload.ts";
import { encodeUtf8 } from "../../../../src/git/byte-text.ts";
import { commentOn, pullIn } from "../../../support/issue-contexts.ts";
import { make } from "../../../support/make.ts";
import { makeOccasion, oidOf, ROOT_URL } from "../../../support/payload-contexts.ts";
import { formOf, REPOSITORY, USER } from "../../../support/payload-forms.ts";

const FORM = {
  action: "string",
  number: "number",
  pull_request: "object",
  requested_reviewer: "null",
  repository: "object",
  sender: "object",
  commit_id: "string",
  review: "null",
};

describe("webhook payloads of pull requests", () => {
  it("describe a change of a pull request", async () => {
    const context = await makeOccasion();
    const payload = toPullPayload(context, "closed", pullIn(context), { commitOid: oidOf(1) });
    expect(formOf(payload)).toEqual(FORM);
    expect(Object.keys(payload)).toEqual(Object.keys(FORM));
    expect(formOf(payload.repository)).toEqual(REPOSITORY);
    expect(formOf(payload.sender)).toEqual(USER);
    expect(formOf(payload.pull_request.user)).toEqual(USER);
    expect(formOf(payload.pull_request.head.repo ?? {})).toEqual(REPOSITORY);
    expect(formOf(payload.pull_request.base.repo ?? {})).toEqual(REPOSITORY);
    const { row, owner } = context.repo;
    expect(payload).toMatchObject({
      action: "closed",
      number: 2,
      commit_id: oidOf(1),
      pull_request: {
        number: 2,
        title: "It rains",
        html_url: `${ROOT_URL}/${owner.name}/${row.name}/pulls/2`,
        labels: [{ name: "roof" }],
        merged: false,
        additions: 3,
        deletions: 1,
        changed_files: 2,
        base: { ref: "main", sha: "2".repeat(40), repo: { id: row.id } },
        head: { ref: "topic", sha: "1".repeat(40), repo: { id: row.id } },
      },
    });
  });

  it("have a merge as a closed pull request that names its commit", async () => {
    const context = await makeOccasion();
    const merged = { mergedAt: 1000, mergeCommitOid: oidOf(3) };
    const payload = toPullPayload(context, "closed", pullIn(context, merged, { isClosed: true }));
    expect(payload).toMatchObject({
      action: "closed",
      commit_id: "",
      pull_request: { state: "closed", merged: true, merge_commit_sha: oidOf(3) },
    });
    expect(payload.pull_request.merged_by?.login).toBe(context.sender?.name);
  });

  it("describe a review, and who wrote it", async () => {
    const context = await makeOccasion();
    const review = { type: "pull_request_review_rejected", content: "No" } as const;
    const reviewer = await make.user({ isEmailHidden: false });
    const payload = toPullPayload(context, "reviewed", pullIn(context), { review, reviewer });
    expect(formOf(payload)).toEqual({ ...FORM, requested_reviewer: "object", review: "object" });
    expect(payload).toMatchObject({ action: "reviewed", review, commit_id: "" });
    expect(payload.requested_reviewer?.login).toBe(reviewer.name);
    // SECURITY: the readers at the receiver are unknown.
    expect(JSON.stringify(payload)).not.toContain(`${reviewer.lowerName}@example`);
    expect(payload.requested_reviewer?.email).toContain("@noreply.forge.example");
  });

  it("name the team of which a review is asked", async () => {
    const context = await makeOccasion();
    const team = await make.team(await make.org([await make.user()]));
    const payload = toPullPayload(context, "review_requested", pullIn(context), { team });
    expect(payload).toMatchObject({
      requested_reviewer: null,
      requested_team: { id: team.id, name: team.name, organization: null },
    });
  });

  it("show a base that was changed as a former ref", async () => {
    const context = await makeOccasion();
    const changes = { ref: { from: "old" }, added_labels: null, removed_labels: null };
    const payload = toPullPayload(context, "edited", pullIn(context), { changes });
    expect(payload.changes).toEqual(changes);
  });

  // SECURITY: a hook of the base opens no private fork to its receivers.
  it("leave out a head in a repository that anybody may not see", async () => {
    const context = await makeOccasion();
    const { repo: fork } = await makeOccasion({ repo: { isPrivate: true, visibility: "private" } });
    const hidden = { ...fork, permission: { mode: 0, units: {} } } as unknown as typeof fork;
    const pull = { ...pullIn(context, { headRepoId: fork.row.id }), headRepo: hidden };
    const { head } = toPullPayload(context, "opened", pull).pull_request;
    expect(head).toMatchObject({ repo_id: fork.row.id, repo: null });
  });

  it("describe a comment with its pull request", async () => {
    const context = await makeOccasion();
    const pull = pullIn(context);
    const payload = toCommentPayload(context, "created", pull, commentOn(pull), { pull });
    expect(formOf(payload)).toEqual({
      action: "string",
      issue: "object",
      pull_request: "object",
      comment: "object",
      repository: "object",
      sender: "object",
      is_pull: "boolean",
    });
    expect(payload).toMatchObject({
      is_pull: true,
      issue: { number: 2, pull_request: { merged: false } },
      pull_request: { number: 2 },
      comment: { id: 6, issue_url: "", pull_request_url: payload.pull_request?.html_url },
    });
  });

  // A row in D1 holds 2 MB, and one control character takes six bytes in JSON.
  it("bound the total size", async () => {
    const context = await makeOccasion();
    const long = "\u0001".repeat(1_000_000);
    const pull = pullIn(context, {}, { body: long, title: "\u0001".repeat(255) });
    const changes = { body: { from: long }, added_labels: null, removed_labels: null };
    const review = { type: "pull_request_review_comment", content: long } as const;
    const payloads = [
      toCommentPayload(context, "edited", pull, commentOn(pull, long), { from: long, pull }),
      toPullPayload(context, "edited", pull, { changes, review }),
    ];
    for (const each of payloads) {
      const bytes = encodeUtf8(JSON.stringify(each)).length;
      expect(bytes).toBeLessThan(1_400_000);
      expect(bytes).toBeGreaterThan(800_000);
    }
  });
});
