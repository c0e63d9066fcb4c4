/** The version of Gitea's API that this service speaks; clients enable features by it. */
const API_VERSION = "1.25.0";

/** Our own, as in package.json; a test holds the two together. */
export const EDGEFORGE_VERSION = "0.1.0";

/** What `GET /version` says: a semantic version that clients of the field can compare. */
export const SERVER_VERSION = `${API_VERSION}+edgeforge-${EDGEFORGE_VERSION}`;

/** What requests to other hosts say that they are from. */
export const USER_AGENT = `Edgeforge/${EDGEFORGE_VERSION}`;
