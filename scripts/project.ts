import { fileURLToPath } from "node:url";

/** The directory that holds package.json. */
export const projectRoot = fileURLToPath(new URL("..", import.meta.url)).replace(/[/\\]$/, "");

/** The absolute path of a file or directory, given relative to the project. */
export function inProject(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}
