/** Where Markdown, or HTML in it, names a file of an issue, comment or release of Gitea or Gogs. */
const FILE =
  /(\]\(<?|\b(?:src|href)\s*=\s*["'])(?:\/[\w.~/-]{0,200})?(\/attachments\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/gi;

/**
 * Makes the addresses of files in a body absolute, which otherwise lead to the forge on which they
 * are shown.
 */
export const absoluteFiles = (body: string, rootUrl: string): string =>
  body.replaceAll(FILE, (_, before: string, path: string) => `${before}${rootUrl}${path}`);
