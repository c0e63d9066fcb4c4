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
    { name: "explore", path: "/explore/repos", ...LIST },
    { name: "profile", path: `/${OWNER}`, ...LIST },
  ];
};
