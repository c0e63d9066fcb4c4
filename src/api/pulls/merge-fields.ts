import { optionalText } from "../json-body.ts";

const TITLE_MAX = 4096;
const MESSAGE_MAX = 262_144;
const OID_MAX = 64;

// The fields of bodies with the options of a merge.

export const optionalTitle = () => optionalText(TITLE_MAX);
export const optionalMessage = () => optionalText(MESSAGE_MAX);
export const optionalHead = () =>
  optionalText(OID_MAX).openapi({ description: "Refuses the merge if the head is another commit" });
export const optionalCommit = () =>
  optionalText(OID_MAX).openapi({
    description: "The commit of the base, for `manually-merged`",
  });
