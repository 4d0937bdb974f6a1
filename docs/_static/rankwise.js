// What the theme leaves out for keyboards and screen readers: levels of headings, names of landmarks and of the links of
// the gallery, and code and tables that are wider than the page, which scroll by the arrow keys once they have the focus.
function describe() {
  for (const heading of document.querySelectorAll('.sidebar-drawer [role="heading"]')) heading.setAttribute("aria-level", "2");
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "All pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a")) link.setAttribute("aria-label", link.textContent);
  for (const box of document.querySelectorAll("article pre, article table.docutils")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
addEventListener("load", describe);
addEventListener("resize", describe);
