import { z } from "@hono/zod-openapi";

import { decodeText, readByteText } from "../../git/byte-text.ts";
import { Commit, type CommitEntry, toCommit } from "./commit.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import type { Viewer } from "../viewer.ts";

export const Note = z
  .object({
    message: z.string(),
    commit: Commit.openapi({ description: "The commit that last changed the note" }),
  })
  .openapi("Note");

export const toNote = (
  repo: Pick<RepositoryContext, "row" | "owner">,
  { content, commit }: { content: Uint8Array; commit: CommitEntry },
  viewer: Viewer,
): z.infer<typeof Note> => ({
  message: decodeText(readByteText(content)),
  commit: toCommit(repo, commit, viewer),
});
