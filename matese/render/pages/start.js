controls.hidden = false;
apply();
