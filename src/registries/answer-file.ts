import type { Ctx } from "../context.ts";
import type { FileOfVersion } from "../domain/packages/package/find-file.ts";
import { answerPackageFile, type FileForm } from "../entrance/answer-package-file.ts";
import type { RegistryContext } from "./env.ts";

/** Answers a request of a registry with a file of a package, as `answerPackageFile` does. */
export const answerFile = (
  c: RegistryContext,
  ctx: Ctx,
  found: FileOfVersion,
  form: FileForm = {},
): Promise<Response> => answerPackageFile(c.req.raw, ctx, found, form);
