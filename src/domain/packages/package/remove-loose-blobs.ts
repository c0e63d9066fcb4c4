import type { Ctx } from "../../../context.ts";
import { packageLooseFiles } from "../../../db/schema/index.ts";
import { removeLoose } from "../../code/loose-files/remove-loose.ts";

/** Deletes the bytes of deleted blobs of packages and of uploads that did not end. */
export const removeLooseBlobs = (ctx: Ctx): Promise<void> =>
  removeLoose(ctx, packageLooseFiles, ctx.git.packageFiles);
