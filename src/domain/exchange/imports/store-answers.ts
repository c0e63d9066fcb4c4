import { sql, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { importAnswers, imports } from "../../../db/schema/index.ts";
import type { StoredAnswer } from "../../../forges/step-answers.ts";
import { field, inParts, rowsOf } from "./write/page.ts";

/**
 * The statements that keep what a forge answered to a step which could not end.
 *
 * @param isHeld The condition for a row of `imports` that the job still has it.
 */
export const storeAnswers = (
  db: Ctx["db"],
  answers: readonly StoredAnswer[],
  isHeld: SQL,
): BatchItem<"sqlite">[] =>
  inParts(answers).map((part) =>
    insertSelect(
      db,
      importAnswers,
      { importId: imports.id, url: field("url"), answer: field("answer") },
      sql`from ${imports}, ${rowsOf(part)} where ${isHeld}`,
    ).onConflictDoUpdate({
      target: [importAnswers.importId, importAnswers.url],
      set: { answer: sql`excluded.answer` },
    }),
  );
