import type { Ctx } from "../../../context.ts";
import type { Attachment } from "../../../db/schema/index.ts";
import { ATTACHMENT_HEAD_BYTES, areContentsChecked, isTypeAllowed } from "./attachment-type.ts";

/**
 * Whether a stored file may get a name.
 *
 * @param types The allowed types, as the configuration has them; none allow all.
 */
export async function isRenamingAllowed(
  { git }: Ctx,
  { uuid, sizeBytes }: Attachment,
  name: string,
  types: readonly string[],
): Promise<boolean> {
  if (isTypeAllowed(types, name, undefined)) return true;
  if (!areContentsChecked(types)) return false;
  const end = Math.min(sizeBytes, ATTACHMENT_HEAD_BYTES);
  return isTypeAllowed(types, name, await git.attachmentFiles.read(uuid, { start: 0, end }));
}
