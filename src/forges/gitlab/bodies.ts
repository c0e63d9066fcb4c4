import { maskCode } from "../../render/mask-code.ts";
import { type Numbering, numberOfIssue, numberOfPull } from "./numbering.ts";

/** The context in which a text of a project is converted. */
export interface BodyContext {
  readonly numbering: Numbering;
  /** The full path of the project, with all its groups. */
  readonly projectPath: string;
  /** The URL of the project's page, without a slash at its end. */
  readonly webUrl: string;
}

/** A file that was attached to a text: GitLab writes its address from the project's page on. */
const UPLOAD = String.raw`(?<=^|[\s("'<=])/uploads/(?=[0-9a-f]{32}/)`;

/**
 * A text as it leads to the same things here: references to merge requests, and to issues whose
 * number is another, are written with the number here, and addresses of attached files in full.
 * Code stays as it is.
 *
 * @param text GitLab's Markdown; null for none.
 * @see https://docs.gitlab.com/user/markdown/#gitlab-specific-references
 */
export function toBody(text: string | null | undefined, context: BodyContext): string {
  const { numbering, projectPath, webUrl } = context;
  if (text === null || text === undefined || text === "") return "";
  const own = projectPath.replaceAll(/[.-]/g, String.raw`\$&`);
  const pattern = new RegExp(
    String.raw`(?<![\w/.&#!@-])(?:${own})?([#!])(\d{1,10})(?![\w/#-])|${UPLOAD}`,
    "gim",
  );
  let body = "";
  let at = 0;
  // Code is masked by spaces, so that what is found is at the same position in the text.
  for (const match of maskCode(text).matchAll(pattern)) {
    const [found, sign, digits] = match;
    body += text.slice(at, match.index);
    at = match.index + found.length;
    if (sign === undefined) body += `${webUrl}/uploads/`;
    else {
      const iid = Number(digits);
      body += `#${sign === "!" ? numberOfPull(numbering, iid) : numberOfIssue(numbering, iid)}`;
    }
  }
  return body + text.slice(at);
}
