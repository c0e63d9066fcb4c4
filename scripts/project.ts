import { fileURLToPath } from "node:url";

/** The directory that holds package.json. */
export const projectRoot = fileURLToPath(new URL("..", import.meta.url)).replace(/[/\\]$/, "");

/** The absolute path of something in the project, given as the documents write it. */
export function inProject(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}
