import { describe, expect, it } from "vitest";

import {
  toCommentPayload,
  toIssuePayload,
} from "../../../../src/events/webhooks/payloads/issue-payload.ts";
import { encodeUtf8 } from "../../../../src/git/byte-text.ts";
import { toLabel } from "../../../../src/shapes/issues/label.ts";
import { commentOn, issueIn, labelIn } from "../../../support/issue-contexts.ts";
import { makeOccasion, oidOf, ROOT_URL } from "../../../support/payload-contexts.ts";
import { formOf, REPOSITORY, USER } from "../../../support/payload-forms.ts";

describe("webhook payloads of issues", () => {
  it("describe a change of an issue", async () => {
    const context = await makeOccasion();
    const payload = toIssuePayload(context, "closed", issueIn(context), { commitOid: oidOf(1) });
    expect(formOf(payload)).toEqual({
      action: "string",
      number: "number",
      issue: "object",
      repository: "object",
      sender: "object",
      commit_id: "string",
    });
    expect(formOf(payload.repository)).toEqual(REPOSITORY);
    expect(formOf(payload.sender)).toEqual(USER);
    expect(formOf(payload.issue.user)).toEqual(USER);
    const { row, owner } = context.repo;
    expect(payload).toMatchObject({
      action: "closed",
      number: 2,
      commit_id: oidOf(1),
      issue: {
        number: 2,
        title: "It rains",
        html_url: `${ROOT_URL}/${owner.name}/${row.name}/issues/2`,
        url: `${ROOT_URL}/api/v1/repos/${owner.name}/${row.name}/issues/2`,
        labels: [{ name: "roof" }],
        milestone: { title: "spring" },
        pull_request: null,
        repository: { full_name: `${owner.name}/${row.name}` },
      },
    });
  });

  it("name no commit where none closed or reopened the issue", async () => {
    const context = await makeOccasion();
    expect(toIssuePayload(context, "opened", issueIn(context)).commit_id).toBe("");
  });

  // SECURITY: the readers at the receiver are unknown.
  it("show users as anonymous callers see them", async () => {
    const context = await makeOccasion({ owner: { isEmailHidden: false } });
    const { row, owner } = context.repo;
    const issue = issueIn(context);
    const payloads = [
      toIssuePayload(context, "opened", issue),
      toCommentPayload(context, "created", issue, commentOn(issue)),
    ];
    expect(JSON.stringify(payloads)).not.toContain(owner.email);
    expect(payloads[0]?.issue.user.email).toBe(`${owner.lowerName}@noreply.forge.example`);
    expect(row.ownerId).toBe(owner.id);
  });

  it("list what an edit changed, and the labels that were added and removed", async () => {
    const context = await makeOccasion();
    const { repo, viewer } = context;
    const edited = toIssuePayload(context, "edited", issueIn(context), {
      changes: { title: { from: "It pours" }, added_labels: null, removed_labels: null },
    });
    expect(edited.changes).toEqual({
      title: { from: "It pours" },
      added_labels: null,
      removed_labels: null,
    });
    const label = toLabel(labelIn(repo.row.id, "roof"), repo, viewer);
    const labeled = toIssuePayload(context, "label_updated", issueIn(context), {
      changes: { added_labels: [label], removed_labels: [] },
    });
    expect(labeled.changes).toEqual({ added_labels: [label], removed_labels: [] });
  });

  it("describe a comment", async () => {
    const context = await makeOccasion();
    const issue = issueIn(context);
    const payload = toCommentPayload(context, "edited", issue, commentOn(issue), {
      from: "Not here",
    });
    expect(formOf(payload)).toEqual({
      action: "string",
      issue: "object",
      comment: "object",
      changes: "object",
      repository: "object",
      sender: "object",
      is_pull: "boolean",
    });
    expect(payload).toMatchObject({
      comment: { id: 6, body: "Same here", html_url: `${payload.issue.html_url}#issuecomment-6` },
      changes: { body: { from: "Not here" } },
      is_pull: false,
    });
    const created = toCommentPayload(context, "created", issue, commentOn(issue));
    expect(created).not.toHaveProperty("changes");
  });

  // A row in D1 holds 2 MB, and one control character takes six bytes in JSON.
  it.each(["x", "\u0001", '"', "\u20ac", "\u{1f600}", "\ud800"])(
    "bound the total size, if all texts consist of %j",
    async (character) => {
      const context = await makeOccasion();
      const long = character.repeat(1_000_000);
      const issue = issueIn(context, { title: character.repeat(255), body: long });
      const payload = toCommentPayload(context, "edited", issue, commentOn(issue, long), {
        from: long,
      });
      const changes = { body: { from: long }, added_labels: null, removed_labels: null };
      for (const each of [payload, toIssuePayload(context, "edited", issue, { changes })]) {
        const bytes = encodeUtf8(JSON.stringify(each)).length;
        expect(bytes).toBeLessThan(1_200_000);
        expect(bytes).toBeGreaterThan(300_000);
      }
    },
  );
});
