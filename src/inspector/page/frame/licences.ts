/** Whose code is bundled with the page. `npm run page` puts their licences' whole text at the top of the file. */
export const pageLicences = "lit-html (BSD-3-Clause) and uPlot (MIT)"
