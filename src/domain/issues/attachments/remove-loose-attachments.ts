import type { Ctx } from "../../../context.ts";
import { attachmentLooseFiles } from "../../../db/schema/index.ts";
import { removeLoose } from "../../code/loose-files/remove-loose.ts";

/** Deletes the files of deleted attachments and of uploads that did not end. */
export const removeLooseAttachments = (ctx: Ctx): Promise<void> =>
  removeLoose(ctx, attachmentLooseFiles, ctx.git.attachmentFiles);
