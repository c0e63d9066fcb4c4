/** The colors of pages, which src/web/pages/style.css has. */
const COLORS = {
  light: {
    "bg-color": "#ffffff",
    "text-color": "#1b1f24",
    "nav-bg-color": "#f6f7f9",
    "nav-text-color": "#1b1f24",
    "nav-hover-bg-color": "#e3e8ee",
    "nav-hover-text-color": "#1b1f24",
    "primary-color": "#0b5cad",
    "secondary-color": "#0b5cad",
  },
  dark: {
    "bg-color": "#0f1318",
    "text-color": "#e6eaf0",
    "nav-bg-color": "#171c23",
    "nav-text-color": "#e6eaf0",
    "nav-hover-bg-color": "#2b333d",
    "nav-hover-text-color": "#ffffff",
    "primary-color": "#7cb8ff",
    "secondary-color": "#7cb8ff",
  },
};

const viewer = document.createElement("openapi-explorer");

function set(attributes) {
  for (const [name, value] of Object.entries(attributes)) viewer.setAttribute(name, value);
}

const darkness = matchMedia("(prefers-color-scheme: dark)");
const paint = () => set(COLORS[darkness.matches ? "dark" : "light"]);
paint();
darkness.addEventListener("change", paint);

set({
  "spec-url": "/openapi.json",
  // With several hundred operations, none is expanded; the reader searches.
  collapse: "",
  "hide-components": "",
  "schema-style": "table",
  // The API takes no cookies.
  "fetch-credentials": "omit",
});
document.body.append(viewer);
