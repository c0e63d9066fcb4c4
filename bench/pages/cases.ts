import {
  DISCUSSED_ISSUE,
  PACKAGE,
  PACKAGE_VERSION,
  REVIEWED_PULL,
  WIKI_PAGE,
} from "./collaboration.ts";

/** A page that is measured on both sides. */
export type PageCase = {
  name: string;
  path: string;
  /** The least share of the other side's requests per second that is good enough. */
  rateMin: number;
  /** The largest share of the other side's CPU that is good enough; undefined without a goal. */
  cpuMax: number | undefined;
  /** Whether a browser shows it, too. */
  isPainted?: boolean;
  /** Whether the owner of the repository reads it, with a session; anonymous otherwise. */
  isSignedIn?: boolean;
};

/** Where the history is on both sides. */
export const OWNER = "pages-owner";
export const PROJECT = "project";

/** The paths of a history that its pages are measured with. */
export type Subject = {
  /** A directory of many entries. */
  directory: string;
  /** A file that many commits have changed. */
  file: string;
  commit: string;
};

/** Pages about the content of a repository, and pages of lists. */
const CONTENT = { rateMin: 1.5, cpuMax: 0.5 };
const LIST = { rateMin: 1, cpuMax: undefined };

export const casesOf = ({ directory, file, commit }: Subject): PageCase[] => {
  const at = `/${OWNER}/${PROJECT}`;
  return [
    { name: "home of a repository", path: at, ...CONTENT, isPainted: true },
    { name: "directory", path: `${at}/src/branch/main/${directory}`, ...CONTENT },
    { name: "file", path: `${at}/src/branch/main/${file}`, ...CONTENT, isPainted: true },
    { name: "commits", path: `${at}/commits/branch/main`, ...CONTENT },
    { name: "commit", path: `${at}/commit/${commit}`, ...CONTENT },
    { name: "blame", path: `${at}/blame/branch/main/${file}`, ...CONTENT },
    { name: "issues", path: `${at}/issues`, ...CONTENT },
    { name: "issue with 100 comments", path: `${at}/issues/${DISCUSSED_ISSUE}`, ...CONTENT },
    { name: "pull requests", path: `${at}/pulls`, ...CONTENT },
    { name: "pull request", path: `${at}/pulls/${REVIEWED_PULL}`, ...CONTENT },
    { name: "100 changed files", path: `${at}/pulls/${REVIEWED_PULL}/files`, ...CONTENT },
    { name: "notifications", path: "/notifications", ...LIST, isSignedIn: true },
    {
      name: "package",
      path: `/${OWNER}/-/packages/generic/${PACKAGE}/${PACKAGE_VERSION}`,
      ...LIST,
    },
    { name: "wiki page", path: `${at}/wiki/${WIKI_PAGE}`, ...CONTENT },
    { name: "editor", path: `${at}/_edit/main/${file}`, ...CONTENT, isSignedIn: true },
    { name: "settings of a repository", path: `${at}/settings`, ...LIST, isSignedIn: true },
    { name: "rules of branches", path: `${at}/settings/branches`, ...LIST, isSignedIn: true },
    { name: "settings of an account", path: "/user/settings", ...LIST, isSignedIn: true },
    { name: "explore", path: "/explore/repos", ...LIST },
    { name: "profile", path: `/${OWNER}`, ...LIST },
  ];
};
