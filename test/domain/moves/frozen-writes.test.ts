import { describe, expect, it } from "vitest";

import { isMoving } from "../../../src/db/moves/is-moving.ts";
import { runMove } from "../../../src/domain/moves/run-moves.ts";
import { intercepted } from "../../support/intercepted-database.ts";
import {
  makeAccount,
  makeRepository,
  SHARDED,
  shardDatabase,
  shardedCtx,
} from "../../support/sharded.ts";
import { fresh, insertRow, moveOf, withMoves, rowsIn, runUntil, startMove } from "./fixtures.ts";
import { shardOf } from "./random-writes.ts";

withMoves();

describe("writes before each call of a job that freezes a repository and names the target", () => {
  it.each([0, 1])(
    "are in the target, or are refused from the closing to the opening (from %s)",
    async (source) => {
      const repo = await makeRepository(await makeAccount(), source);
      const ofRepo = { repo_id: repo.id };
      const issueId = await insertRow(shardDatabase(source), "issues", { ...ofRepo, number: 1 });
      const { id } = await startMove({ repo }, source, source + 1);
      const answers: { body: string; isAccepted: boolean }[] = [];
      const write = async (): Promise<void> => {
        const body = `comment ${fresh()}`;
        const values = { ...ofRepo, issue_id: issueId, kind: "comment", body };
        const inserting = insertRow(
          shardDatabase(await shardOf(repo.id)),
          "timeline_entries",
          values,
        );
        const isAccepted = await inserting.then(
          () => true,
          (error: unknown) => {
            if (isMoving(error)) return false;
            throw error;
          },
        );
        answers.push({ body, isAccepted });
      };
      let isWriting = false;
      const around = async (call: () => Promise<unknown>): Promise<unknown> => {
        if (isWriting) return call();
        isWriting = true;
        const { state } = await moveOf(id);
        if (state === "frozen" || state === "moved") await write();
        isWriting = false;
        return call();
      };
      const bindings = Object.fromEntries(
        Object.entries(SHARDED).flatMap(([name, d1]) =>
          d1 ? [[name, intercepted(d1, around)]] : [],
        ),
      );

      const run = () => runMove(shardedCtx(bindings), id);
      expect(await runUntil(id, ["cleaning", "failed"], { run })).toMatchObject({
        state: "cleaning",
        differenceCount: 0,
      });

      const accepted = answers.filter(({ isAccepted }) => isAccepted).map(({ body }) => body);
      const rows = (await rowsIn(source + 1, [repo.id])).get("timeline_entries");
      const found = (rows as { body: string }[]).map(({ body }) => body);
      expect(found.toSorted()).toEqual(accepted.toSorted());
      const phases = answers.filter(
        ({ isAccepted }, index) => isAccepted !== answers[index - 1]?.isAccepted,
      );
      expect(phases.map(({ isAccepted }) => isAccepted)).toEqual([true, false, true]);
    },
  );
});
