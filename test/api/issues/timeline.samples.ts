import { timelineEntries } from "../../../src/db/schema/index.ts";
import { db } from "../../support/db.ts";
import { makeIssue } from "../../support/issues.ts";
import { defineSamples } from "../../support/samples/sample.ts";

export const samples = defineSamples({
  issueGetCommentsAndTimeline: {
    request: async (world) => {
      const { id: otherEntryId } = await world.comment();
      const [{ id: issueId, repoId, posterId }, label] = [await world.issue(), await world.label()];
      const { id: otherIssueId } = await makeIssue(await world.repo());
      const times = { createdAt: 1000, updatedAt: 1000 };
      const entry = { repoId, issueId, posterId, ...times };
      await db.insert(timelineEntries).values([
        { ...entry, kind: "label", labelId: label.id, body: "1" },
        { ...entry, kind: "comment_ref", otherIssueId, otherEntryId },
      ]);
      return { path: await world.issuePath() };
    },
    variants: async () => [
      { query: { since: "1970-01-01T00:00:00Z", before: "2100-01-01T00:00:00Z" } },
    ],
  },
});
