import { eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { importAnswers } from "../../../db/schema/index.ts";

/** Reads what was kept of an import's present step. */
export const selectAnswers = (db: Ctx["db"], importId: number) =>
  db
    .select({ url: importAnswers.url, answer: importAnswers.answer })
    .from(importAnswers)
    .where(eq(importAnswers.importId, importId));

/** The statement that forgets it. */
export const forgetAnswers = (db: Ctx["db"], importId: number) =>
  db.delete(importAnswers).where(eq(importAnswers.importId, importId));
